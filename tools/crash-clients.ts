// The clients of the crash test. They speak JSON-RPC over HTTP themselves: a fault of our client must not hide one of our server.
import type { CrashLine } from './crash-checker.ts'

const REVISION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'crash', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
}
const FINAL: readonly unknown[] = ['completed', 'failed', 'cancelled']
const POLL_MS = 700
const RETRY_MS = 200
/** How long a client waits for an answer. */
const PATIENCE_MS = 10_000

/** The clients, and where they write. */
export interface CrashClients {
  /** The addresses of the servers, also while they are down. Each request goes to any of them. */
  readonly urls: readonly string[]
  readonly apiKey: string
  readonly log: (line: CrashLine) => void
  /** Further arguments of every call. */
  readonly more?: Readonly<Record<string, unknown>>
  /** When to break the connection of a request, in milliseconds from its beginning; undefined for most. Default: never. */
  readonly dropMs?: () => number | undefined
  /** Called if a connection was broken before the answer. */
  readonly onDropped?: () => void
  /** Whether to stop waiting: something is badly wrong. */
  readonly isOver: () => boolean
}

type Answer = Readonly<Record<string, unknown>>

/** Calls a tool until there is a task, and asks for that until it has ended. Answers its id. */
export async function runTask(
  clients: CrashClients,
  task: number,
  tool: string,
  ms: number,
): Promise<string | undefined> {
  const { log, isOver } = clients
  const key = tool === 'keyed' ? { key: String(task) } : {}
  // A call without a key that got no answer may have become a task or not: another one takes its place.
  while (!isOver()) {
    log({ event: 'call', task, tool, ...key })
    const answer = await request(
      clients,
      'tools/call',
      { name: tool, arguments: { task, ms, ...clients.more } },
      tool,
    )
    if (answer === undefined) {
      log({ event: 'unanswered', task })
      if (tool !== 'keyed') return undefined
      await pause(RETRY_MS)
      continue
    }
    const { taskId: id, status } = (answer['result'] ?? {}) as Answer
    if (typeof id !== 'string') {
      log({ event: 'rejected', task, error: JSON.stringify(answer) })
      return undefined
    }
    log({ event: 'accepted', task, id, status: String(status) })
    await follow(clients, task, id)
    return id
  }
  return undefined
}

/** Asks for a task until it has ended, whatever happens to the server meanwhile. */
async function follow(clients: CrashClients, task: number, id: string): Promise<void> {
  while (!clients.isOver()) {
    await pause(POLL_MS * (0.5 + Math.random()))
    if (await look(clients, task, id)) return
  }
}

/** Asks for a task once; answers whether it has ended. */
export async function look(clients: CrashClients, task: number, id: string): Promise<boolean> {
  const answer = await request(clients, 'tasks/get', { taskId: id }, id)
  if (answer === undefined) return false
  if (answer['error'] !== undefined) {
    clients.log({ event: 'missing', task, id })
    return true
  }
  const { status, result, error } = answer['result'] as Answer
  const outcome = FINAL.includes(status) ? { outcome: outcomeText(result, error) } : {}
  clients.log({ event: 'seen', task, id, status: String(status), ...outcome })
  return FINAL.includes(status)
}

function outcomeText(result: unknown, error: unknown): string {
  const { content } = (result ?? {}) as { readonly content?: readonly Answer[] }
  return content === undefined ? JSON.stringify(error ?? null) : String(content[0]?.['text'])
}

/** Sends a request; undefined if no answer came. */
async function request(
  { urls, apiKey, dropMs, onDropped }: CrashClients,
  method: string,
  params: object,
  name: string,
): Promise<Answer | undefined> {
  const drop = new AbortController()
  const ms = dropMs?.()
  const timer = ms === undefined ? undefined : setTimeout(() => drop.abort(), ms)
  try {
    const url = urls[Math.floor(Math.random() * urls.length)] as string
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': REVISION,
        'mcp-method': method,
        'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), drop.signal]),
    })
    const text = await response.text()
    // A server that is about to start or stop answers so, or a proxy whose server has died; the client asks again.
    if ([429, 502, 503].includes(response.status)) return undefined
    return JSON.parse(text.replace(/^(event: .*\n)?data: /, '')) as Answer
  } catch {
    if (drop.signal.aborted) onDropped?.()
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
