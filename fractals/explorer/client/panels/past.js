/** The panel of what was: snapshots, and the steps of undo as pictures. */
import { html } from "../html.js";
import { Button, Card, Section, Still } from "../ui.js";

const STILL = 128; // pixels of the picture of now

export function pastPanel(
  /** @type {Context} */ { explorer, past: { beside, hold, keep, remove, snapshots } },
) {
  function Steps() {
    const { back, forth } = explorer.steps,
      now =
        explorer.drawn?.pass === "exact" ? explorer.still(STILL).toDataURL("image/jpeg", 0.7) : "";
    const all = [...back, { still: now }, ...forth];
    return html`<ol class="steps" aria-label="Steps">${all
      .map(({ still }, index) => {
        const by = index - back.length,
          title = by === 0 ? "Now" : by < 0 ? `${-by} back` : `${by} forth`;
        return html`<li key=${by}><button type="button" class="step" aria-label=${title} title=${title} aria-current=${by === 0 ? "step" : undefined} onClick=${() => by && explorer.step(by)}>
        ${still ? html`<${Still} src=${still} />` : html`<span class="blank"></span>`}</button></li>`;
      })
      .reverse()}</ol>`;
  }

  return {
    View: () => html`<div><${Section} title="Snapshots">
      <${Button} label="Keep a snapshot" symbol="plus" kind="primary wide-button" onClick=${keep} />
      <p class="hint">Hold a card's middle button to see it in place of the picture; its left button lays it beside the picture.${matchMedia("(any-pointer: fine)").matches && " The keys O and Shift+O do so with the newest one."}</p>
      <ul class="cards small" aria-label="Snapshots">${snapshots().map(
        (each) => html`<li key=${each.letter}>
        <${Card} title=${each.letter} onClick=${() => explorer.open({ scene: { ...each.scene, image: explorer.scene.image } })}><${Still} src=${each.still} /><//>
        <${Button} label=${`Beside the picture: ${each.letter}`} symbol="beside" bare kind="corner-button leftmost" onClick=${() => beside(each)} />
        <${Button} label=${`Hold to compare with ${each.letter}`} symbol="compare" bare kind="corner-button left" ...${hold(each)} />
        <${Button} label=${`Remove snapshot ${each.letter}`} symbol="trash" bare kind="corner-button" onClick=${() => remove(each.letter)} /></li>`,
      )}</ul><//>
      <${Section} title="Steps"><p class="hint">The newest is on top. Undo goes one step back; here you go to any.</p><${Steps} /><//></div>`,
  };
}
