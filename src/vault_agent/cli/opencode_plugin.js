// Written by `vault-agent agent connect opencode`. `vault-agent agent disconnect opencode` removes it.
// It tells vault-agent when sessions start, go on and end, and gives the agent what comes back.
import { spawn } from "node:child_process"

const COMMAND = []
const MILLISECONDS = 5000

function hook(event) {
  return new Promise((resolve) => {
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill(), MILLISECONDS)
      let printed = ""
      child.stdout.on("data", (part) => (printed += part))
      child.on("error", () => resolve({}))
      child.stdin.on("error", () => {})
      child.on("close", () => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(printed))
        } catch {
          resolve({})
        }
      })
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve({})
    }
  })
}

const textOf = (parts) =>
  (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n")

export const VaultAgent = async ({ client, directory }) => {
  const texts = new Map() // the texts for each session: they stand in each of its requests
  const ofAgents = new Set() // sessions that another session started

  async function tell(name, id, more = {}) {
    if (!id || ofAgents.has(id)) return
    const reply = await hook({ hook_event_name: name, session_id: id, cwd: directory, ...more })
    const text = reply?.hookSpecificOutput?.additionalContext
    if (text) texts.set(id, [...(texts.get(id) ?? []), text])
  }

  async function lastText(id) {
    try {
      const { data } = await client.session.messages({ path: { id } })
      const last = data.filter((message) => message.info.role === "assistant").at(-1)
      return textOf(last?.parts)
    } catch {
      return undefined
    }
  }

  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      const id = sessionID ?? info?.id
      if (event.type === "session.created") {
        if (info?.parentID) ofAgents.add(id)
        await tell(event.type, id, { source: "startup" })
      } else if (event.type === "session.idle") {
        await tell(event.type, id, { last_assistant_message: await lastText(id) })
      } else if (event.type === "session.compacted") {
        texts.delete(id)
        await tell(event.type, id, { compact_summary: await lastText(id) })
      } else if (event.type === "session.deleted") {
        await tell(event.type, id, { reason: "other", session_title: info?.title })
        texts.delete(id)
      }
    },
    "chat.message": async (input, output) => {
      const model = input.model?.modelID
      await tell("chat.message", input.sessionID, { prompt: textOf(output.parts), model })
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const text of texts.get(input.sessionID) ?? []) output.system.push(text)
    },
  }
}
