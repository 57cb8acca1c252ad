//! Drags: those of the browser itself (`draggable`), and those that a script follows by the moves
//! of the mouse and a clock.

use super::site::Site;
use crate::common::is_due;

const LIST: &str = "<style>li { width: 200px; height: 30px }</style>
    <ul id=l style=position:fixed;top:99px><li id=a>a</li><li id=b>b</li><li id=c>c</li></ul>";

#[test]
fn the_browser_drags_what_is_draggable() {
    if !is_due(77) {
        return;
    }
    let script = "<script>let at = null; a.draggable = true;
        a.ondragstart = (e) => { e.dataTransfer.setData('text/plain', e.target.id); say('start');
          setTimeout(() => say('begun')) };
        l.ondragover = (e) => { e.preventDefault(); at = e.target.id };
        l.ondrop = (e) => { e.preventDefault(); say('drop-' + e.dataTransfer.getData('text/plain') + at) };
        a.ondragend = () => say('end')</script>";
    let steps = r##"{"drag": {"from": "#a", "to": "#c"}}, {"drag": {"from": "#b", "to": "#c"}}"##;
    let ran = Site::saying(&format!("{LIST}{script}")).steps(steps).run();
    assert_eq!(ran.words(), "start begun drop-ac end", "{:#?}", ran.names);
}

#[test]
fn time_passes_while_the_user_drags() {
    if !is_due(78) {
        return;
    }
    let script = "<script>let dragged = null, x = 0, y = 0, loop;
        l.onpointerdown = (e) => { dragged = e.target; setTimeout(() => say('later'), 3000);
          loop = setInterval(() => { const over = document.elementFromPoint(x, y);
            if (over && over !== dragged && over.parentNode === l)
              l.insertBefore(dragged, over.nextSibling) }, 50) };
        addEventListener('pointermove', (e) => { x = e.clientX; y = e.clientY });
        addEventListener('pointerup', () => { clearInterval(loop);
          say([...l.children].map((one) => one.id).join('')) })</script>";
    let steps = r##"{"drag": {"from": "#a", "to": "#c"}}"##;
    let ran = Site::saying(&format!("{LIST}{script}")).steps(steps).run();
    assert_eq!(ran.words(), "bca later", "{:#?}", ran.names);
    assert!(!ran.names.iter().any(|name| name.contains("interval")), "{:#?}", ran.names);
}
