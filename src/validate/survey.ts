import { inputFor } from './generated-cases.ts'
import { isObject, member, type Message } from './message.ts'
import { usualAnswer } from './answer.ts'
import type { Reply, Session } from './session.ts'
import type { ServerSubject } from './server-subject.ts'
import { toolCall } from './tool-call.ts'

/** A call of a tool and what came of it. */
export interface SurveyedCall {
  readonly tool: Message
  /** The arguments of the call. */
  readonly input: Message
  readonly reply: Reply
  /** The results before it that asked the client for input. */
  readonly asked: readonly Reply[]
  /** The place of the trace before the call. */
  readonly from: number
  readonly token: string
  /** How long it took. */
  readonly ms: number
}

/** What the server did when everything that it offers was used once. */
export interface Survey {
  readonly calls: readonly SurveyedCall[]
  readonly reads: readonly { readonly uri: string; readonly reply: Reply }[]
  readonly prompts: readonly { readonly name: string; readonly reply: Reply }[]
}

/** The most of each kind that are used. */
const MOST = 40
/** How many tools are called at once. */
const AT_ONCE = 8
/** The most time for one call of a tool, and for all of them. */
const CALL_MS = 2_000
const ALL_MS = 10_000
/** The most rounds of questions for one call. */
const MOST_ROUNDS = 5

/** Uses everything that a server offers once. Tools are called only if that is permitted. */
export async function survey(subject: ServerSubject): Promise<Survey> {
  const until = performance.now() + ALL_MS
  const calls: SurveyedCall[] = []
  const reads: { uri: string; reply: Reply }[] = []
  const prompts: { name: string; reply: Reply }[] = []
  try {
    const session = await subject.forCalls()
    const first = await session.request(subject.isModern ? 'server/discover' : 'ping')
    if (first.message === undefined) return { calls, reads, prompts }
    await session.request('validator/unknown')
    const [resources, , listed, tools] = [
      await subject.list('resources'),
      await subject.list('templates'),
      await subject.list('prompts'),
      await subject.callable(),
    ]
    for (const { uri } of resources.slice(0, MOST))
      if (typeof uri === 'string')
        reads.push({ uri, reply: await session.request('resources/read', { uri }) })
    for (const prompt of listed.slice(0, MOST))
      if (typeof prompt['name'] === 'string')
        prompts.push({ name: prompt['name'], reply: await getPrompt(session, prompt) })
    if (subject.mayCall) {
      await setLevel(session, await subject.capabilities())
      const rest = tools.slice(0, MOST)
      // Several at once, since some may take long; none after a server that has stopped answering.
      while (rest.length > 0 && performance.now() < until) {
        const some = await Promise.all(rest.splice(0, AT_ONCE).map((tool) => callTool(session, tool)))
        calls.push(...some)
        if (some.every(({ reply }) => reply.message === undefined)) break
      }
    }
  } catch {
    // A server that breaks off has shown enough; other rules say what is wrong with it.
  }
  return { calls, reads, prompts }
}

async function setLevel(session: Session, capabilities: Message): Promise<void> {
  if (!session.isModern && Object.hasOwn(capabilities, 'logging'))
    await session.request('logging/setLevel', { level: 'debug' })
}

async function getPrompt(session: Session, prompt: Message): Promise<Reply> {
  return (await withRounds(session, 'prompts/get', promptParams(prompt))).reply
}

/** Parameters for a prompt, with a text for each of its arguments. */
export function promptParams({ name, arguments: declared }: Message): Message {
  const list = Array.isArray(declared) ? declared.filter(isObject) : []
  const given = Object.fromEntries(list.map((one) => [String(one['name']), 'validated']))
  return { name, ...(list.length > 0 && { arguments: given }) }
}

/** Tokens are unique among all conversations, so that rules can tell their calls apart. */
let tokens = 0

/** Calls a tool with arguments that its schema accepts, answers its questions, and asks for progress and log messages. */
export async function callTool(session: Session, tool: Message): Promise<SurveyedCall> {
  const input = inputOf(tool)
  const token = `progress-${++tokens}`
  const from = session.wire.trace.mark
  const meta = {
    progressToken: token,
    ...(session.isModern && { 'io.modelcontextprotocol/logLevel': 'debug' }),
  }
  const began = performance.now()
  const { params, headers } = toolCall(session, tool, input)
  const rounds = await withRounds(session, 'tools/call', params, meta, headers)
  return { tool, input, ...rounds, from, token, ms: performance.now() - began }
}

/** Arguments that the schema of a tool accepts. */
export function inputOf(tool: Message): Message {
  const schema = tool['inputSchema']
  return inputFor(isObject(schema) ? schema : {})
}

/** Sends a request, and answers the questions in its results until it is complete. */
async function withRounds(
  session: Session,
  method: string,
  params: Message,
  meta?: Message,
  headers?: Readonly<{ [name: string]: string }>,
): Promise<{ readonly reply: Reply; readonly asked: readonly Reply[] }> {
  const ms = Math.min(session.ms, CALL_MS)
  const asked: Reply[] = []
  let reply = await session.request(method, params, { meta, ms, headers })
  while (asked.length < MOST_ROUNDS && member(reply.result, 'resultType') === 'input_required') {
    asked.push(reply)
    reply = await session.request(method, { ...params, ...answersTo(reply) }, { meta, ms, headers })
  }
  return { reply, asked }
}

/** The answers to the questions in a result, and its state. */
export function answersTo({ result }: Reply): Message {
  const questions = member(result, 'inputRequests')
  const state = member(result, 'requestState')
  const inputResponses = Object.fromEntries(
    Object.entries(isObject(questions) ? questions : {}).map(([key, one]) => [
      key,
      usualAnswer(String(member(one, 'method')), member(one, 'params')) ?? {},
    ]),
  )
  return { inputResponses, ...(state !== undefined && { requestState: state }) }
}
