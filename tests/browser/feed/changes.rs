//! The feed of changes, and the recorder behind it.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::history::{every_write_has_its_mark, revision};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};

const SOON: Duration = Duration::from_secs(20);

/// The rows of the feed that are in the document: time, sign, object, words, repetition and writers of each.
async fn rows(page: &Page) -> Vec<Vec<String>> {
    let script = "return [...document.querySelectorAll('[data-testid=feed-row]')].map(row => [
        ...['time', '.feed-sign', '.feed-subject', '.feed-words', '.repetition', '.feed-writers']
            .map(part => row.querySelector(part)?.textContent ?? ''), row.dataset.depth, row.dataset.what])";
    page.read(script, Vec::new()).await
}

/// Waits until a row is there, and returns its place and all rows.
async fn row(page: &Page, what: &str, is_it: impl Fn(&[String]) -> bool) -> (usize, Vec<Vec<String>>) {
    wait_until(what, SOON, async || {
        let rows = rows(page).await;
        let at = rows.iter().position(|row| is_it(row));
        at.map(|at| (at, rows.clone())).ok_or_else(|| format!("{rows:#?}"))
    })
    .await
}

async fn recorder(page: &Page) -> Value {
    page.read("return window.kubechurn.recorder()", Vec::new()).await
}

#[tokio::test]
async fn a_rollout_is_shown_and_its_first_row_names_what_began_it() {
    let (_turn, cluster, proxy) = started(&Options { scenario: "calm", pods: 40, ..Options::default() }).await;
    let name = "a_rollout_is_shown_and_its_first_row_names_what_began_it";
    with_page(name, &proxy.url(), "#/changes", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.reaches("deployments", "live", SOON).await;
        let all = cluster.get("/apis/apps/v1/deployments").await;
        let several = |one: &&Value| one["spec"]["replicas"].as_u64().is_some_and(|count| (2..=5).contains(&count));
        let deployment =
            all["items"].as_array().into_iter().flatten().find(several).expect("a Deployment of a few Pods");
        let (namespace, own) = (&deployment["metadata"]["namespace"], &deployment["metadata"]["name"]);
        let (namespace, own) = (namespace.as_str().unwrap(), own.as_str().unwrap());
        let mut containers = deployment["spec"]["template"]["spec"]["containers"].clone();
        containers[0]["image"] = json!("registry.example/rolled:out");
        let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{own}");
        cluster.patch(&path, &json!({ "spec": { "template": { "spec": { "containers": containers } } } })).await;

        let object = format!("Deployment{namespace}/{own}");
        let squeezed = |row: &[String]| row[2].replace(' ', "");
        let began =
            |row: &[String]| squeezed(row) == object && row[3].contains("image") && row[3].contains("rolled:out");
        row(page, "what began the rollout is shown", began).await;
        // Its consequences stand below it, further in, until all its Pods are new.
        let replicas = deployment["spec"]["replicas"].as_u64().unwrap();
        wait_until("the rollout is over", Duration::from_secs(60), async || {
            let now = cluster.get(&path).await;
            let status = &now["status"];
            let is_over = status["updatedReplicas"] == replicas
                && status["replicas"] == replicas
                && status["readyReplicas"] == replicas;
            holds(is_over, || status.to_string())
        })
        .await;
        // What happens meanwhile to others stands above it, and moves it out of sight.
        page.read::<Value>(
            "const field = document.getElementById('filter');
            field.value = arguments[0]; field.dispatchEvent(new Event('input', { bubbles: true }))",
            vec![format!("name:{own}").into()],
        )
        .await;
        let (at, all) = row(page, "the new ReplicaSet is shown below it", |row| {
            row[2].starts_with("ReplicaSet") && row[2].contains(own) && row[6] == "1" && row[3].contains("added")
        })
        .await;
        let first = all[..at].iter().rposition(|row| row[6] == "0").expect("a row that is not indented");
        assert!(began(&all[first]), "{:?}", all[first]);
        let block = all[first + 1..].iter().take_while(|row| row[6] != "0").count() + 1;
        assert!((3..=12).contains(&block), "{block} rows: {:#?}", &all[first..first + block]);
        // The buttons that come under the pointer cover neither writers nor what opens the row.
        for width in [1440, 1024, 720] {
            viewport(page, width, 900).await;
            let covered = "
                const rows = [...document.querySelectorAll('[data-testid=feed-row][data-what=change]')];
                const box = one => one.getBoundingClientRect();
                const meet = (one, two) => one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom;
                const covers = (row, button) => [...row.querySelectorAll('.feed-writers, .repetition')]
                    .filter(one => box(one).width > 0 && meet(box(one), box(button)));
                return [rows.filter(row => row.querySelector('.repetition')).length > 0,
                    rows.flatMap(row => [...row.querySelectorAll('.on-hover')].flatMap(button => covers(row, button)))
                        .map(one => one.textContent)]";
            page.becomes(&format!("nothing is covered at {width} pixels"), covered, json!([true, []])).await;
        }

        // A click shows the object beside the feed, with what changed in it.
        // Rows move while more comes, so the row is found by its words.
        let click = "const rows = [...document.querySelectorAll('[data-testid=feed-row]')];
            const row = rows.find(row => arguments[0].every(words => row.textContent.includes(words)));
            row?.querySelector('a')?.click();
            return row != null";
        wait_until("the row can be clicked", SOON, async || {
            let words = json!([format!("{namespace}/{own}"), "image", "rolled:out"]);
            holds(page.read::<bool>(click, vec![words]).await, || "there is no such row".to_owned())
        })
        .await;
        let tab = "return document.querySelector('[data-testid=inspector-tab-changes]')?.ariaSelected ?? null";
        page.becomes("the object's changes are shown", tab, json!("true")).await;
        assert_eq!(page.text("inspector-name").await, own);
        assert!(page.hash().await.contains("#/changes?"), "{}", page.hash().await);
        page.is_balanced().await;
    })
    .await;
}

#[tokio::test]
async fn rows_stay_in_place_where_the_user_looks_at_older_ones_and_newer_ones_wait() {
    let (_turn, cluster, proxy) = started(&Options { pods: 300, rate: 0, ..Options::default() }).await;
    let name = "rows_stay_in_place_where_the_user_looks_at_older_ones_and_newer_ones_wait";
    with_page(name, &proxy.url(), "#/pods?view=changes", async |page| {
        page.reaches("pods", "live", SOON).await;
        assert_eq!(page.text("feed-empty").await, "Nothing has changed since this page began to watch. What changes will be shown here.");
        // What the Pods say of their past stands below that, and is counted nowhere.
        let past = page.text("feed-past").await;
        assert!(past.contains("Before you came, from the objects: "), "{past}");
        let counts = page.text("feed-counts").await;
        assert!(counts.starts_with("0 changes"), "{counts}");
        cluster.rate(200).await;
        cluster.advance(200, 200).await;
        row(page, "changes are shown", |row| row[2].starts_with("Pod")).await;
        wait_until("there is more than fits", SOON, async || {
            let fits: bool = page.read("const feed = document.querySelector('[data-testid=feed-scroll]');
                return feed.scrollHeight > feed.clientHeight + 300", Vec::new()).await;
            holds(fits, || "all rows fit".to_owned())
        })
        .await;
        page.read::<Value>("document.querySelector('[data-testid=feed-scroll]').scrollTop = 120", Vec::new()).await;
        page.painted().await;
        // Where rows are by the pixel: what stands at a height stays there.
        let places = "const feed = document.querySelector('[data-testid=feed-scroll]').getBoundingClientRect();
            return [...document.querySelectorAll('[data-testid=feed-row]')].filter(row => row.getBoundingClientRect().top > feed.top)
                .slice(0, 8).map(row => [Math.round(row.getBoundingClientRect().top), row.querySelector('.feed-subject').textContent])";
        let before: Vec<(f64, String)> = page.read(places, Vec::new()).await;
        cluster.advance(100, 200).await;
        wait_until("newer rows wait", SOON, async || {
            let newer: Option<String> = page.read("return document.querySelector('[data-testid=feed-newer]')?.textContent ?? null", Vec::new()).await;
            holds(newer.as_ref().is_some_and(|words| words.ends_with("newer")), || format!("{newer:?}"))
        })
        .await;
        let mut after: Vec<(f64, String)> = page.read(places, Vec::new()).await;
        // A row stays where it is while it takes in a change of a second Pod, and then names both.
        for ((_, now), (_, name)) in after.iter_mut().zip(&before).filter(|((_, now), _)| now.contains(" Pods of")) {
            now.clone_from(name);
        }
        assert_eq!(after, before, "nothing moves");
        page.click("feed-newer").await;
        page.becomes("the newest row is in sight", "return document.querySelector('[data-testid=feed-scroll]').scrollTop", json!(0)).await;
        page.becomes("no row waits", "return document.querySelector('[data-testid=feed-newer]')", Value::Null).await;
        // The table of the same kind is one click away, and so is the feed.
        page.click("feed-table").await;
        page.becomes("the table is shown", "return document.querySelector('[role=row][data-key]') !== null && document.querySelector('[data-testid=feed]').checkVisibility() === false", json!(true)).await;
        assert_eq!(page.hash().await, "#/pods");
    })
    .await;
}

#[tokio::test]
async fn the_feed_is_filtered_and_noise_is_folded_for_good() {
    let (_turn, cluster, proxy) = started(&Options { pods: 100, ..Options::default() }).await;
    with_page("the_feed_is_filtered_and_noise_is_folded_for_good", &proxy.url(), "#/pods?view=changes", async |page| {
        page.reaches("pods", "live", SOON).await;
        let path = async |name: &str, label: &str, value: &str| {
            // Every Pod has labels, so that a new one is a change of its own.
            let patch = json!({ "metadata": { "labels": { label: value } } });
            cluster.patch(&format!("/api/v1/namespaces/{name}"), &patch).await;
        };
        let pods = cluster.get("/api/v1/pods").await;
        let pods: Vec<String> = pods["items"].as_array().unwrap().iter().take(2).map(|pod| {
            format!("{}/pods/{}", pod["metadata"]["namespace"].as_str().unwrap(), pod["metadata"]["name"].as_str().unwrap())
        }).collect();
        path(&pods[0], "example.org-a", "one").await;
        path(&pods[1], "example.org-b", "two").await;
        row(page, "the first annotation is shown", |row| row[3].contains("example.org-a") && row[3].contains("one")).await;
        row(page, "the second annotation is shown", |row| row[3].contains("example.org-b")).await;

        let only = async |filter: &str, wanted: &str, other: &str| {
            page.read::<Value>("const field = document.getElementById('filter');
                field.value = arguments[0]; field.dispatchEvent(new Event('input', { bubbles: true }))", vec![filter.into()]).await;
            wait_until(filter, SOON, async || {
                let rows = rows(page).await;
                let is_so = rows.iter().any(|row| row[3].contains(wanted)) && !rows.iter().any(|row| row[3].contains(other));
                holds(is_so, || format!("{rows:#?}"))
            })
            .await;
        };
        only("path:metadata.labels one", "example.org-a", "example.org-b").await;
        only("!example.org-a", "example.org-b", "example.org-a").await;
        only("type:updated two", "example.org-b", "example.org-a").await;
        page.read::<Value>("const field = document.getElementById('filter');
            field.value = '/('; field.dispatchEvent(new Event('input', { bubbles: true }))", Vec::new()).await;
        page.becomes("a broken filter is reported", "return document.querySelector('[data-testid=filter-error]') !== null", json!(true)).await;
        page.click("feed-all").await;
        row(page, "all are shown again", |row| row[3].contains("example.org-a")).await;

        let mark = "[...document.querySelectorAll('[data-testid=feed-row]')].find(row => row.textContent.includes('example.org-a'))
            .querySelector('[data-testid=feed-as-noise]').click()";
        page.read::<Value>(mark, Vec::new()).await;
        let choices = "return [...document.querySelectorAll('[data-testid=noise-choice]')].map(one => one.textContent)";
        wait_until("what is meant is to be chosen", SOON, async || {
            let choices: Vec<String> = page.read(choices, Vec::new()).await;
            let is_so = choices.len() == 2 && choices[0] == "of every Pod" && choices[1].starts_with("of Pod ");
            holds(is_so, || format!("{choices:?}"))
        })
        .await;
        page.click("noise-choice").await;
        row(page, "the field is folded", |row| row[7] == "noise" && row[3].contains("marked as noise")).await;
        assert!(!rows(page).await.iter().any(|row| row[3].contains("example.org-a")));
        page.click("noise-undo").await;
        row(page, "it is taken back at once", |row| row[3].contains("example.org-a")).await;
        page.read::<Value>(mark, Vec::new()).await;
        page.click("noise-choice").await;
        row(page, "the field is folded again", |row| row[7] == "noise" && row[3].contains("marked as noise")).await;
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        path(&pods[0], "example.org-a", "three").await;
        path(&pods[1], "example.org-b", "four").await;
        row(page, "the other field is shown", |row| row[3].contains("four")).await;
        assert!(!rows(page).await.iter().any(|row| row[3].contains("three")), "noise is remembered");
        page.read::<Value>("document.querySelector('[data-testid=feed-noise] button').click()", Vec::new()).await;
        row(page, "the field is shown again", |row| row[3].contains("three")).await;
    })
    .await;
}

#[tokio::test]
async fn the_recorder_is_turned_off_and_on_and_the_feed_says_so() {
    let (_turn, cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    with_page("the_recorder_is_turned_off_and_on_and_the_feed_says_so", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        let pods = cluster.get("/api/v1/pods").await;
        let metadata = &pods["items"][0]["metadata"];
        let path = format!(
            "/api/v1/namespaces/{}/pods/{}",
            metadata["namespace"].as_str().unwrap(),
            metadata["name"].as_str().unwrap()
        );
        let label = async |value: &str| {
            cluster.patch(&path, &json!({ "metadata": { "labels": { "example.org-a": value } } })).await
        };
        let choose = async |name: &str| {
            page.press("c").await;
            page.click(name).await;
            page.becomes(
                "the choice is marked",
                "return document.querySelector('[name=recorder]:checked').dataset.testid",
                json!(name),
            )
            .await;
            page.press("\u{e00c}").await; // Esc
        };
        choose("recorder-0").await;
        page.becomes(
            "the footer says it",
            "const figures = document.querySelector('[data-testid=figures]');
                figures.open = true;
                return figures.textContent.includes('recorder off')",
            json!(true),
        )
        .await;
        // The choice is remembered, and an empty feed says why it is empty.
        page.open("#/pods?view=changes").await;
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        label("one").await;
        page.becomes(
            "the change has a mark",
            "return window.kubechurn.marks('pods').some(mark => mark.type === 'Updated' && mark.kept === false)",
            json!(true),
        )
        .await;
        let empty =
            "return document.querySelector('[data-testid=feed-empty]')?.textContent.startsWith('The recorder is off')";
        page.becomes("the feed says why it is empty", empty, json!(true)).await;
        page.is_balanced().await;

        page.open("#/pods").await;
        choose("recorder-64").await;
        label("two").await;
        page.open("#/pods?view=changes").await;
        // The version before came while the recorder was off.
        row(page, "the change is shown as far as it is known", |row| {
            row[3] == "changed, the version before is not kept"
        })
        .await;
        label("three").await;
        row(page, "and the next one whole", |row| row[3].contains("two → three")).await;
        page.is_balanced().await;
    })
    .await;
}

#[tokio::test]
async fn a_storm_is_recorded_whole_and_every_frame_has_its_mark() {
    let (_turn, cluster, proxy) = started(&Options { pods: 1_000, ..Options::default() }).await;
    with_page("a_storm_is_recorded_whole_and_every_frame_has_its_mark", &proxy.url(), "#/pods", async |page| {
        let live = page.reaches("pods", "live", SOON).await;
        cluster.rate(5_000).await;
        cluster.advance(60_000, 5_000).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        let writes = cluster.log("pods").await;
        page.shows("pods", &truth, Duration::from_secs(30)).await;
        page.is_balanced().await;
        every_write_has_its_mark(&page.marks("pods").await, &writes, revision(&live));
        let recorder = recorder(page).await;
        let count = |name: &str| recorder[name].as_u64().unwrap_or_else(|| panic!("{name}: {recorder}"));
        assert_eq!(count("received"), count("kept") + count("again") + count("dropped"), "{recorder}");
        let later = writes.iter().filter(|write| write.revision > revision(&live)).count() as u64;
        assert!(count("received") >= later + 1_000, "{later} writes after a list of 1,000: {recorder}");
        assert_eq!(count("dropped"), 0, "{recorder}");
        let forgotten = page.marks("pods").await.into_iter().filter(|mark| mark.kept == Some(false)).take(3);
        assert_eq!(forgotten.collect::<Vec<_>>(), [], "the recorder has every version that has a mark");
        assert!(count("written_bytes") * 100 <= count("text_bytes") * 15, "{recorder}");
        assert!(count("bytes") <= count("budget"), "{recorder}");
    })
    .await;
}

#[tokio::test]
async fn a_loop_is_found_and_shown_in_a_sentence() {
    let (_turn, _cluster, proxy) = started(&Options { scenario: "hot-loop", pods: 40, ..Options::default() }).await;
    with_page("a_loop_is_found_and_shown_in_a_sentence", &proxy.url(), "#/changes", async |page| {
        page.reaches("deployments", "live", SOON).await;
        let sentence = wait_until("a card reports the loop", Duration::from_secs(60), async || {
            let card: Option<String> = page
                .read("return document.querySelector('[data-testid=card]')?.textContent ?? null", Vec::new())
                .await;
            card.filter(|words| words.contains(" writes in ")).ok_or_else(|| "no card".to_owned())
        })
        .await;
        assert!(sentence.contains('⇄') || sentence.contains("is written without a change"), "{sentence}");
        let link: String =
            page.read("return document.querySelector('[data-testid=card] a').getAttribute('href')", Vec::new()).await;
        assert!(link.starts_with("#/") && link.contains("sel="), "{link}");
        for (width, height) in [(1440, 900), (1024, 700)] {
            let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
            page.browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
            let is_whole = "
                const title = document.querySelector('[data-testid=feed] h1'), card = document.querySelector('[data-testid=card]');
                const words = card.querySelector('p'), is_cut = one => one.scrollWidth > one.clientWidth + 1;
                // It leaves room for the feed.
                const wrong = document.querySelector('.wrong').getBoundingClientRect(), feed = document.getElementById('feed').getBoundingClientRect();
                return innerWidth === arguments[0] && !is_cut(title) && !is_cut(words)
                    && card.getBoundingClientRect().height <= 64 && wrong.height <= feed.height / 2
                    && words.scrollHeight <= words.clientHeight + 1 && card.getBoundingClientRect().right <= innerWidth";
            let what = format!("title and sentence are whole at {width} pixels");
            wait_until(&what, SOON, async || {
                let is_whole: bool = page.read(is_whole, vec![json!(width)]).await;
                holds(is_whole, || "cut".to_owned())
            })
            .await;
        }
    })
    .await;
}
