//! Transitions that begin while the user presses a button.

use super::site::Site;
use crate::common::is_due;

/// Whether the browser draws between two inputs changes nothing: a page whose handlers take so long
/// that it does has the same events as one whose handlers take no time.
#[test]
fn a_pressed_button_has_the_same_transitions_whenever_the_browser_draws() {
    if !is_due(74) {
        return;
    }
    let page = |wait: u32| {
        format!(
            "<style>button {{ background: #fff; transition: background-color 0.3s, opacity 0.2s }}
            button:hover {{ opacity: 0.5 }} button:active {{ background: #000 }}
            button:focus {{ color: #f00 }}</style><button id=run>run</button><script>
            const wait = () => {{ const end = performance.now() + {wait}; let n = 0;
              for (let i = 0; i < {wait} * 1e6; i++) n ^= i; return n }};
            for (const type of ['mouseover', 'mousemove', 'mousedown', 'keydown', 'mouseup', 'click'])
              run.addEventListener(type, () => {{ wait(); if (type === 'click') say('click') }});
            </script>"
        )
    };
    let steps = r##"{"click": "#run"}, {"press": "Space"}, {"click": "#run"}"##;
    let [fast, slow] = [0, 100].map(|wait| Site::saying(&page(wait)).steps(steps).run());
    assert_eq!(fast.names, slow.names);
    assert_eq!(fast.words(), "click click click");
    let ends = |property: &str| {
        fast.names.iter().filter(|name| name.contains(&format!("animation@{property}"))).count()
    };
    assert!(ends("opacity") > 0 && ends("background-color") > 0, "{:#?}", fast.names);
}
