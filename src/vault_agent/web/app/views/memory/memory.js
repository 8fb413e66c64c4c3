// The Memory view: what each session of an agent got of the notes, and the journals of the sessions.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { Empty, sentence, toast, Trouble } from "../../parts/say.js";
import { Choices, Icon } from "../../parts/controls.js";
import { useSheet } from "../../parts/sheet.js";
import { plain } from "../../parts/text.js";
import { address, changed, go } from "../../state/address.js";
import { loadSessions, memoryFault, olderSessions, readSession, sessions } from "../../state/memory.js";
import { clock, readVaults, remembered, revision, switchedOn, vaults } from "../../state/vault.js";
import { laterWords } from "../../words-later.js";
import { agoWords, count, fullDate, timeOf } from "../../words.js";
import { agentName, GotNote, Journals, JournalState, Tokens } from "./journals.js";
import { Acts, keyOf, Session } from "./session.js";

const t = laterWords.memory;

export function View() {
  const styled = useSheet("memory.css");
  const { session, project } = address.value;
  const both = switchedOn("memory.enabled") && switchedOn("journal.enabled");
  const chosen = useSignal(/** @type {boolean | null} */ (null));
  // What is switched on may be known only later.
  const journals = chosen.value ?? !switchedOn("memory.enabled");
  const only = project[0] ?? "";
  useEffect(() => void (vaults.peek().length || !switchedOn("vaults.enabled") || readVaults()), []);
  if (!styled) return null;
  if (session)
    return html`<section class="page memory" tabindex="0" aria-label="Memory">
      <div><${Session} key=${session} id=${session} /></div>
    </section>`;
  return html`<section class="page memory" tabindex="0" aria-label="Memory">
    <div>
      <div class="head">
        <h1>Memory</h1>
        <span class="acts">
          <${Projects} only=${only} />
          ${
            both &&
            html`<${Choices}
              label="Memory"
              value=${journals}
              choices=${[{ value: false, face: "Sessions" }, { value: true, face: "Journals" }]}
              onChoose=${(/** @type {boolean} */ is) => (chosen.value = is)}
            />`
          }
        </span>
      </div>
      ${memoryFault.value && html`<${Trouble} fault=${memoryFault.value} again=${() => void loadSessions(only)} />`}
      ${journals ? html`<${Journals} project=${only} />` : html`<${Sessions} project=${only} />`}
    </div>
  </section>`;
}

/** The projects to choose from. @param {{ only: string }} props */
function Projects({ only }) {
  const names = new Set(
    vaults.value.filter((vault) => vault.role === "project").map((vault) => vault.name.replace(/^project:/, "")),
  );
  for (const session of sessions.value?.list ?? []) if (session.project) names.add(session.project);
  if (only) names.add(only);
  if (names.size < 2) return null;
  return html`<label class="pick">
    <span class="visually-hidden">Project</span>
    <${Icon} name="folder" />
    <select
      value=${only}
      onChange=${(/** @type {Typed} */ event) => go({ project: event.target.value ? [event.target.value] : [] })}
    >
      <option value="">All projects</option>
      ${[...names].sort().map((name) => html`<option key=${name} value=${name}>${plain(name, 60)}</option>`)}
    </select>
  </label>`;
}

/** @param {{ project: string }} props */
function Sessions({ project }) {
  // Sessions of a vault that this page does not follow bring no news: the clock asks for them.
  useEffect(() => void loadSessions(project), [project, remembered.value, revision.value, clock.value]);
  const page = sessions.value;
  if (!page) return null;
  if (!page.list.length)
    return html`<${Empty} icon="memory" title="No session yet">
      <p>Sessions appear here when an agent works in a project of yours. To let agents take part, run</p>
      <p><code>vault-agent agent connect claude-code</code></p>
    <//>`;
  return html`
    <p class="mute">The notes that each session of an agent received, the latest first.</p>
    <ul class="sessions">${page.list.map((session) => html`<${Card} key=${session.sessionId} of=${session} />`)}</ul>
    ${page.cursor && html`<button class="quiet" onClick=${() => void olderSessions(project)}>More</button>`}
  `;
}

/** @param {{ of: Wire.SessionRow }} props */
function Card({ of }) {
  const notes = useSignal(/** @type {(Wire.ChosenNote | Wire.DeliveredNote)[]} */ ([]));
  const read = (/** @type {{ currentTarget: HTMLDetailsElement }} */ { currentTarget }) => {
    if (!currentTarget.open) return;
    void readSession(of.sessionId).then(
      ({ pinned, deliveries }) => {
        const all = [...pinned, ...deliveries.flatMap((delivery) => delivery.notes)];
        notes.value = [...new Map(all.map((note) => [keyOf(note), note])).values()];
      },
      (error) => toast(sentence(error)),
    );
  };
  return html`<li class="card session">
    <a href=${changed({ view: "memory", session: of.sessionId })}>
      <span class="who">
        <b><bdi>${plain(of.title, 120) || t.untitled(agentName(of.agent))}</bdi></b>
        <small>${agentName(of.agent)}${of.project && html` · <bdi>${plain(of.project, 60)}</bdi>`}</small>
      </span>
      <span class="got num">
        ${t.got(of.notes, count(of.notes))}
        <small><${Tokens} of=${of.tokens} most=${of.maxTokens} /></small>
      </span>
      <span class="when num" title=${fullDate(of.lastEventAt)}>
        ${agoWords((Date.now() - timeOf(of.lastEventAt)) / 1000)}
        <small>${of.state === "open" ? html`<span class="live" data-state="live"></span>Open` : "Ended"}</small>
      </span>
    </a>
    <div class="line">
      <details class="log grow" onToggle=${read}>
        <summary>Its notes</summary>
        <ul class="got-list">${notes.value.map((note) => html`<${GotNote} key=${keyOf(note)} note=${note} />`)}</ul>
      </details>
      <${Acts} of=${of} onDone=${() => loadSessions(address.peek().project[0] ?? "")} />
    </div>
    ${of.journal && html`<div class="line"><${JournalState} of=${of.journal} vault=${of.vault} /></div>`}
  </li>`;
}
