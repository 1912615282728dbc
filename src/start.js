// Asks early what the program asks first, starts the program, watches whether it lives, and says so when it has died. This
// is plain JavaScript outside the program: what has failed cannot be relied on to tell of it. It is a file, and not a part
// of the page, so that the page's security policy needs to allow no script within the page.
(() => {
  'use strict';

  // The program says with each sign of life when the next one comes. How long after that time it is looked, and looked
  // again, in milliseconds; and after how many looks without a sign the program is taken for dead. Looks are counted, and
  // not time: the program's timer, which is due before them, and these are held up together, by a machine that sleeps, a
  // debugger, or a thread that is busy. A program that gives its signs in time costs no look.
  const LOOK = 200;
  const LOOKS = 3;
  // So many deaths within so many milliseconds are told of: to load the page again may not help then.
  const OFTEN = 3;
  const WITHIN = 60_000;
  const DEATHS = 'kubechurn.deaths';

  const meta = (name) => document.querySelector(`meta[name=${name}]`);

  // --- What is asked early ---

  // How long an answer waits for the program that asks for it, in milliseconds.
  const EARLY = 10_000;
  // Where the program writes down which list it asked first at which place: crates/model/src/page/first_list.rs.
  const FIRST = 'kubechurn.first';

  const early = new Map();

  const ask = (url) => {
    const controller = new AbortController();
    const answer = fetch(url, { headers: { Accept: '*/*' }, signal: controller.signal });
    // Whoever takes the answer hears of its failure.
    answer.catch(() => {});
    early.set(url, { answer, controller });
    setTimeout(() => early.delete(url) && controller.abort(), EARLY);
  };

  window.early = Object.freeze({
    // The answer to a request for this address, as a promise, and what aborts it; `null` where nobody has asked, or where
    // the answer was taken before.
    take(url) {
      const taken = early.get(url) ?? null;
      early.delete(url);
      return taken;
    },
  });

  // The list that the program asked first when it was at this place before, which is what the place's address says of
  // kinds, namespaces and selectors. Of the place at which everybody begins, the page itself knows it, if there is one.
  const firstList = () => {
    const [kinds, query = ''] = location.hash.replace(/^#*\/*/, '').split('?');
    const scope = query.split('&').filter((part) => /^(ns|labels|fields)=/.test(part));
    const place = [kinds || 'changes', ...scope].join('&');
    const usual = place === 'changes' ? meta('first-list')?.content : undefined;
    try {
      const lines = (localStorage.getItem(FIRST) ?? '').split('\n').map((line) => line.split('\t'));
      return lines.find(([known]) => known === place)?.[1] ?? usual;
    } catch {
      return usual;
    }
  };

  // The program asks first below this page, as crates/model/src/page/address.rs says. An API that the page's address names
  // is not asked: it may be one that the user has to agree to.
  const parameters = new URLSearchParams(location.search);
  // Within another page it shows lessons alone, which need nobody's answer: crates/model/src/page/embed.rs.
  const isEmbedded = parameters.get('embed') === '1';
  // A page of another origin could lay something over this one, so that its user clicks on what he does not see.
  const isFramed = () => {
    try {
      for (let one = window; one !== one.parent; one = one.parent) {
        if (one.parent.location.origin !== location.origin) return true;
      }
      return false;
    } catch {
      return true;
    }
  };
  const isRefused = !isEmbedded && isFramed();
  if (!parameters.get('api') && !isEmbedded && !isRefused) {
    const base = new URL(location.pathname.startsWith('/static/') ? '/' : './k8s/', document.baseURI).href;
    ask(`${base}version`);
    // Whoever names a way of listing may get another first request than the usual one.
    const list = parameters.has('list') ? undefined : firstList();
    if (list) ask(base + list);
  }

  // --- The program's life ---

  // What the error was, once the program has died.
  let dead = null;
  // How many calls into the program are under way.
  let depth = 0;
  let beats = 0;
  let lastBeat = 0;
  let versions = '';
  let lastWords = '';
  let timer;

  // Looks, so many milliseconds from now, whether the program has given a sign of life since now; `looks` have found none.
  const lookIn = (time, looks) => {
    const before = beats;
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A browser delays the timers of a hidden page, and not all by the same time. Nobody looks at such a page.
      if (beats !== before || document.hidden || dead) return;
      if (looks + 1 < LOOKS) lookIn(LOOK, looks + 1);
      else died(new Error('it gives no sign of life'), lastBeat);
    }, time);
  };

  window.watchdog = Object.freeze({
    // The program lives, its tables are at these versions, and its next sign comes in so many milliseconds.
    beat(newest, next) {
      beats += 1;
      lastBeat = Date.now();
      versions = newest;
      lookIn(next + LOOK, 0);
    },
    // What the program says of its own failure.
    say(words) {
      lastWords = words;
    },
    // How many signs of life there were.
    beats: () => beats,
  });

  // A program that has not begun yet is loading.
  document.addEventListener('visibilitychange', () => beats > 0 && !document.hidden && lookIn(LOOK, 0));

  // An exception that leaves the program has left it half done: nothing was cleaned up, borrowed things stay borrowed.
  // That is so for a panic, for a trap, for a failed allocation, and for an error of the browser's alike. So the
  // program is not called again.
  const gate = (call) => (...given) => {
    if (dead) {
      if (depth > 0) throw dead;
      return undefined;
    }
    depth += 1;
    try {
      return call(...given);
    } catch (error) {
      died(error, Date.now());
      throw error;
    } finally {
      depth -= 1;
    }
  };

  // What the program offers, behind gates.
  const guarded = (instance) => {
    const behind = ([name, it]) => [name, typeof it === 'function' ? gate(it) : it];
    return { exports: Object.fromEntries(Object.entries(instance.exports).map(behind)) };
  };

  for (const name of ['instantiate', 'instantiateStreaming']) {
    const original = WebAssembly[name];
    WebAssembly[name] = async (...given) => {
      const made = await original.apply(WebAssembly, given);
      return made.instance ? { instance: guarded(made.instance), module: made.module } : made;
    };
  }

  // What has escaped a gate: nothing is known to.
  const escaped = (error) => {
    if (error instanceof WebAssembly.RuntimeError) died(error, Date.now());
  };
  addEventListener('error', (event) => escaped(event.error));
  addEventListener('unhandledrejection', (event) => escaped(event.reason));

  const died = (error, at) => {
    if (dead) return;
    dead = error instanceof Error ? error : new Error(String(error));
    clearTimeout(timer);
    veil(at, lastWords || String(dead));
  };

  // --- What is said of its death ---

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...children);
    return made;
  };

  // How many deaths there were within a minute, this one included.
  const count = (at) => {
    try {
      const before = JSON.parse(sessionStorage.getItem(DEATHS) ?? '[]').filter((one) => Math.abs(at - one) < WITHIN);
      sessionStorage.setItem(DEATHS, JSON.stringify([...before, at]));
      return before.length + 1;
    } catch {
      return 1;
    }
  };

  const veil = (at, why) => {
    const time = new Date(at).toTimeString().slice(0, 8);
    const connection = document.querySelector('[data-testid=connection]');
    if (connection) {
      connection.dataset.state = 'stopped';
      const [dot, word, detail] = connection.children;
      connection.replaceChildren(dot, word, detail);
      word.textContent = 'stopped';
      detail.textContent = '';
    }
    document.title = 'stopped: kubechurn';

    const again = element('button', { 'data-testid': 'dead-reload' }, 'Load the page again');
    again.addEventListener('click', () => location.reload());
    const buttons = element('div', { class: 'buttons' }, again);
    const box = element('div', { class: 'box' },
      element('h1', { id: 'dead-title' }, 'This page has stopped'),
      element('p', { id: 'dead-words' },
        'The program in it failed at ', element('b', { 'data-testid': 'dead-at' }, time),
        '. What is behind this note is from then, and changes no longer: ',
        element('b', { 'data-testid': 'dead-versions' }, versions || 'nothing was listed yet'), '.'));
    const deaths = count(at);
    if (deaths >= OFTEN) {
      box.append(element('p', { 'data-testid': 'dead-often' },
        `It has failed ${deaths} times within a minute, so to load it again as it is may end the same way. Begin anew `
        + 'instead, with Pods alone. If that fails too, free memory by closing other tabs, or try another browser.'));
      const anew = element('button', { 'data-testid': 'dead-anew' }, 'Begin anew');
      // To replace the fragment alone would not load the page again.
      anew.addEventListener('click', () => {
        history.replaceState(null, '', location.pathname + location.search);
        location.reload();
      });
      buttons.append(anew);
    }
    box.append(buttons, element('p', { class: 'why' },
      'What the program said last; the browser’s console may have more:'), element('pre', {}, why));

    document.getElementById('boot')?.remove();
    for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
    for (const child of document.body.children) child.inert = true;
    document.body.append(element('div', {
      class: 'dead', role: 'alertdialog', 'aria-modal': 'true', 'aria-labelledby': 'dead-title',
      'aria-describedby': 'dead-words', 'data-testid': 'dead',
    }, box));
    again.focus();
  };

  // --- The start ---

  // Trunk, while it serves the page, puts its own base in the place of the words in braces, and tells at this address
  // that it has built the page anew. Its own script for this would have to stand within the page.
  const trunk = meta('trunk').content;
  if (!trunk.startsWith('{{')) {
    const url = new URL(`${trunk}.well-known/trunk/ws`, location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    new WebSocket(url).onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === 'reload') location.reload();
      if (message.type === 'buildFailure') console.error('The page could not be built:', message.data?.reason);
    };
  }

  const failed = (error) => {
    console.error(error);
    document.querySelector('#boot .boot-late')?.before(
      element('p', { role: 'alert', 'data-testid': 'boot-failed' }, `The program did not start: ${error}`));
  };

  const refuse = () => {
    const link = element('a', { href: location.href, target: '_blank', rel: 'noopener' }, 'Open kubechurn by itself');
    document.querySelector('#boot .boot-late')?.before(element('p', { role: 'alert', 'data-testid': 'boot-framed' },
      'A page of another address shows this one in a frame, where it does not start. ', link, '.'));
  };

  // The program measures what it draws, and so needs the styles, which come after this script.
  const parsed = new Promise((done) => document.addEventListener('DOMContentLoaded', done));
  const styled = parsed.then(() => {
    const missing = [...document.querySelectorAll('link[rel=stylesheet]')].filter((link) => !link.sheet);
    return Promise.all(missing.map((link) => new Promise((done) => {
      link.addEventListener('load', done);
      link.addEventListener('error', done);
    })));
  });

  if (isRefused) {
    parsed.then(refuse);
    return;
  }
  const { js, wasm } = meta('program').dataset;
  Promise.all([import(new URL(js, document.baseURI)), styled])
    .then(([program]) => program.default({ module_or_path: new URL(wasm, document.baseURI) }))
    .catch((error) => dead || failed(error));
})();
