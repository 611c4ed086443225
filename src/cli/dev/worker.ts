import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import type { McpError, Observer, ObservedRequest, RequestEnd } from 'pierhead'
import { launch, type LaunchedServer, type LaunchOptions } from '../launch.ts'
import { httpAt, stdioOf, type Address } from '../listen-address.ts'
import type { SourceFile } from '../source-file.ts'
import { digestsOf, READER } from './digests.ts'
import type { CallEvent } from './events.ts'
import { HeldStreams } from './held-streams.ts'
import {
  fromMessage,
  RELAYED_VARIABLE,
  toMessage,
  type Digests,
  type ParentMessage,
  type WorkerMessage,
} from './messages.ts'
import { shownError } from './shown-error.ts'
import { TaskStates } from './task-states.ts'

export interface WorkerOptions extends Address {
  readonly file: SourceFile
  /** The folder of the project. */
  readonly root: string
  readonly startMs: number
}

/** Runs the program of the user in this process, which its parent replaces when a file changes. Never ends by itself. */
export async function serveInWorker(options: WorkerOptions): Promise<never> {
  closeConnections()
  const streams = new HeldStreams()
  streams.watch()
  return serve(options, streams, {
    listen: (own) => httpAt(own, options),
    worker: { startMs: options.startMs },
  })
}

/** Does the same over stdio. */
export async function serveRelayed(options: WorkerOptions): Promise<never> {
  // Programs that this one starts are not for the relay.
  delete process.env[RELAYED_VARIABLE]
  return serve(options, undefined, { listen: stdioOf, worker: undefined })
}

async function serve(
  { file, root }: WorkerOptions,
  streams: HeldStreams | undefined,
  how: Pick<LaunchOptions, 'listen' | 'worker'>,
): Promise<never> {
  process.setSourceMapsEnabled(true)
  let server: LaunchedServer | undefined
  process.on('message', (message) => {
    const asked = fromMessage<ParentMessage>(message)
    if (asked?.kind === 'changed') for (const list of asked.lists) server?.changed(list)
    if (asked?.kind === 'replaced') void streams?.giveAway()
  })
  try {
    await launch(file, {
      ...how,
      onServer(app) {
        server ??= app
        const states = new TaskStates()
        app.use({ observer: observer(states, streams), middleware: states.middleware })
      },
    })
  } catch (error) {
    await tell({ kind: 'failed', error: shownError(error, root) })
    process.exit(1)
  }
  await tell({ kind: 'listening' })
  await tell({ kind: 'ready', digests: await readLists(server) })
  return new Promise(() => undefined)
}

/**
 * Answers each request as the last one of its connection. The next one then arrives at the process with the newest program; over a
 * connection that is kept alive it would arrive at the old one.
 */
function closeConnections(): void {
  subscribe('http.server.request.start', (message) => {
    const { response } = message as { readonly response: ServerResponse }
    response.shouldKeepAlive = false
  })
}

async function readLists(server: LaunchedServer | undefined): Promise<Digests> {
  const unknown = { tools: '', resources: '', prompts: '' }
  return server === undefined ? unknown : digestsOf(server).catch(() => unknown)
}

function observer(states: TaskStates, streams: HeldStreams | undefined): Observer {
  return {
    end(request, end) {
      if (request.client?.name === READER || streams?.isGivenAway(request.method) === true) return
      const state = states.change(request.method, request.target, end.outcome)
      if (state !== false) void tell({ kind: 'call', call: { ...callEvent(request, end), state } })
    },
  }
}

function callEvent({ method, target }: ObservedRequest, end: RequestEnd): CallEvent {
  return {
    event: 'call',
    method: method ?? (isLogin(end.error) ? 'request without a login' : 'unreadable message'),
    target,
    outcome: end.outcome,
    error: end.error?.message,
    ms: end.durationMs,
  }
}

/** Whether a caller was turned away because of its credentials, before its message was read. */
function isLogin(error: McpError | undefined): boolean {
  return error?.kind.startsWith('auth_') === true
}

function tell(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    // The parent may be gone.
    if (process.send === undefined || !process.connected) return resolve()
    process.send(toMessage(message), undefined, undefined, () => resolve())
  })
}
