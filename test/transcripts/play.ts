import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Answer, Step } from './scripts.ts'

/** One message of an exchange, as JSON or, where it is none, as text; over HTTP with the status of the reply. */
export type Entry =
  | { readonly client: unknown }
  | { readonly server: unknown }
  | { readonly status: number }
  | { readonly returned: unknown }

/** The exchanges of a switch, by the value or the revision that they show. */
export type Transcript = Readonly<Record<string, readonly Entry[]>>

/** The exchange recorded for a value; throws where none is, so that nothing is compared with nothing. */
export function recordedOf(transcript: Transcript, value: string): readonly Entry[] {
  const entries = transcript[value] ?? []
  if (!entries.some((entry) => 'server' in entry || 'returned' in entry))
    throw new Error(`no exchange is recorded for ${value}: run RECORD=1 npx vitest run test/transcripts`)
  return entries
}

/** Whether `RECORD=1 npx vitest run test/transcripts` writes the transcripts anew; CI never does, since it would compare them with themselves. */
export function isRecording({ RECORD, CI }: NodeJS.ProcessEnv): boolean {
  if (RECORD !== '1') return false
  if (CI !== undefined && CI !== '') throw new Error('transcripts are not recorded in CI: unset RECORD')
  return true
}

const STATE = /("requestState":")[^"]*/
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** A message without what is different each time. */
export function shown(text: string): unknown {
  const steady = text.replaceAll(UUID, '…').replace(STATE, '$1…')
  try {
    return JSON.parse(steady)
  } catch {
    return steady
  }
}

/** One end of a connection in this process: sends texts, and keeps what comes until somebody takes it. */
class Wire {
  readonly #inbox: string[] = []
  readonly #end: ReturnType<App['connect']>
  #wake: () => void = () => undefined

  constructor(app: App) {
    this.#end = app.connect({
      receive: (text) => {
        this.#inbox.push(text)
        this.#wake()
      },
    })
  }

  send(text: string): void {
    this.#end.send(text)
  }

  close(): void {
    this.#end.close()
  }

  /** The next text from the server; undefined when none comes for a moment. */
  async next(patienceMs = 2000): Promise<string | undefined> {
    if (this.#inbox.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patienceMs)
        this.#wake = () => (clearTimeout(timer), resolve())
      })
    }
    return this.#inbox.shift()
  }
}

/** Longer than a server takes for what it sends of its own accord. */
const QUIET_MS = 150
/** Longer than it takes to load what answers. */
const ANSWER_MS = 2000

/** Plays a script to a server and writes down what both sides said. */
export async function record(app: App, steps: readonly Step[]): Promise<readonly Entry[]> {
  const wire = new Wire(app)
  const entries: Entry[] = []
  const questions: JsonObject[] = []
  try {
    for (const step of steps) {
      const text = textOf(step, questions)
      if (text === undefined) continue
      entries.push({ client: shown(text) })
      wire.send(text)
      let patienceMs = asks(step) ? ANSWER_MS : QUIET_MS
      for (
        let heard = await wire.next(patienceMs);
        heard !== undefined;
        heard = await wire.next(patienceMs)
      ) {
        entries.push({ server: shown(heard) })
        questions.push(JSON.parse(heard) as JsonObject)
        patienceMs = QUIET_MS
      }
    }
    return entries
  } finally {
    wire.close()
  }
}

/** Says again what the client said, and gives back what both said this time; throws when the script says something else. */
export async function replay(
  app: App,
  steps: readonly Step[],
  entries: readonly Entry[],
): Promise<readonly Entry[]> {
  assertScript(steps, entries)
  const wire = new Wire(app)
  const said: Entry[] = []
  try {
    for (const entry of entries) {
      if ('client' in entry) wire.send(toText(entry.client))
      said.push('client' in entry ? entry : { server: shown((await wire.next()) ?? 'nothing') })
    }
    const more = await wire.next(30)
    return more === undefined ? said : [...said, { server: shown(more) }]
  } finally {
    wire.close()
  }
}

/** Throws unless a transcript holds each message that its script sends, in order, and no other. */
export function assertScript(steps: readonly Step[], entries: readonly Entry[]): void {
  const heard = entries.flatMap((entry) => ('server' in entry ? [entry.server as JsonObject] : []))
  const texts = steps.flatMap((step) => textOf(step, heard) ?? [])
  const recorded = entries.flatMap((entry) => ('client' in entry ? [entry.client] : []))
  if (!isDeepStrictEqual(recorded, texts.map(shown)))
    throw new Error('the transcript and its script differ: run RECORD=1 npx vitest run test/transcripts')
}

/** The same over HTTP: each message is a request, each reply has a status. */
export async function exchangeHttp(app: App, messages: readonly unknown[]): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  let session: string | null = null
  for (const message of messages) {
    const response: Response = await app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === null ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify(message),
      }),
    )
    session ??= response.headers.get('mcp-session-id')
    entries.push({ client: message }, { status: response.status }, { server: shown(await response.text()) })
  }
  await app.close()
  return entries
}

function asks(step: Step): boolean {
  return typeof step === 'object' && 'id' in step
}

function toText(message: unknown): string {
  return typeof message === 'string' ? message : JSON.stringify(message)
}

function textOf(step: Step, heard: readonly JsonObject[]): string | undefined {
  if (typeof step !== 'object' || !('answer' in step)) return toText(step)
  const { answer, result } = step as Answer
  const question = heard.find(({ method }) => method === answer)
  return question && JSON.stringify({ jsonrpc: '2.0', id: question['id'], result })
}
