/** The panel of what was: snapshots, and the steps of undo as pictures. */
import { html } from "../html.js";
import { Button, Card, Section, Still } from "../ui.js";
import { say } from "../words.js";

const STILL = 128; // pixels of the picture of now

export function pastPanel(
  /** @type {Context} */ { explorer, open, past: { beside, hold, keep, remove, snapshots } },
) {
  function Steps() {
    const { back, forth } = explorer.steps,
      now =
        explorer.drawn?.pass === "exact" ? explorer.still(STILL).toDataURL("image/jpeg", 0.7) : "";
    const all = [...back, { still: now }, ...forth];
    return html`<ol class="steps" aria-label=${say("steps")}>${all
      .map(({ still }, index) => {
        const by = index - back.length,
          title =
            by === 0
              ? say("now")
              : by < 0
                ? say("steps_back", { count: -by })
                : say("steps_forth", { count: by });
        return html`<li key=${by}><button type="button" class="step" aria-label=${title} title=${title} aria-current=${by === 0 ? "step" : undefined} onClick=${() => by && explorer.step(by)}>
        ${still ? html`<${Still} src=${still} />` : html`<span class="blank"></span>`}</button></li>`;
      })
      .reverse()}</ol>`;
  }

  return {
    View: () => html`<div><${Section} title=${say("snapshots")}>
      <${Button} label=${say("keep_a_snapshot")} symbol="plus" kind="primary wide-button" onClick=${keep} />
      <p class="hint">${say("hold_a_cards_middle_button")}${matchMedia("(any-pointer: fine)").matches && say("the_keys_o_and_shift")}</p>
      <ul class="cards small" aria-label=${say("snapshots")}>${snapshots().map(
        (each) => html`<li key=${each.letter}>
        <${Card} title=${each.letter} onClick=${() => explorer.open({ scene: { ...each.scene, image: explorer.scene.image } })}><${Still} src=${each.still} /><//>
        <${Button} label=${say("beside_the_picture_letter", { letter: each.letter })} symbol="beside" bare kind="corner-button leftmost" onClick=${() => beside(each)} />
        <${Button} label=${say("hold_to_compare_with", { letter: each.letter })} symbol="compare" bare kind="corner-button left" ...${hold(each)} />
        <${Button} label=${say("remove_snapshot", { letter: each.letter })} symbol="trash" bare kind="corner-button" onClick=${() => remove(each.letter)} /></li>`,
      )}</ul><//>
      <${Section} title=${say("steps")}><p class="hint">${say("the_newest_is_on_top")}</p><${Steps} />
        <${Button} label=${say("wall_of_versions")} symbol="branch" kind="wide-button" title=${say("each_picture_that_rests_is")} onClick=${() => open("versions")} /><//></div>`,
  };
}
