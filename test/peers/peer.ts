import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Revision } from 'pierhead'
import { connect, type Answers, type Client, type ConnectOptions } from '../../src/client.ts'

export type Feature =
  | 'instructions'
  | 'hints'
  | 'structured'
  | 'progress'
  | 'cancel'
  | 'log'
  | 'levels'
  | 'elicit'
  | 'visit'
  | 'elicited'
  | 'sample'
  | 'roots'
  | 'changes'
  | 'updates'

/** A server that others wrote, and what it lacks where. */
export interface Kind {
  readonly name: string
  readonly file: string
  /** The revision that it is found to speak. */
  readonly newest: Revision
  readonly revisions: readonly Revision[]
  lacks(feature: Feature, revision: Revision, transport: Transport): boolean
}

export type Transport = 'stdio' | 'HTTP' | 'HTTP+SSE'

/** A program to start, or where one listens. */
export type Place = { readonly command: string; readonly args: readonly string[] } | string

/** Starts a server that says on stderr where it listens. */
export async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly lines: AsyncIterable<string>; readonly child: ChildProcess; close(): Promise<void> }> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    child,
    lines: createInterface({ input: child.stderr as NodeJS.ReadableStream }),
    async close() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** A client of ours that is connected, and everything that it was told. */
export interface Met extends AsyncDisposable {
  readonly client: Client
  readonly revision: Revision
  readonly heard: Heard
  readonly asked: { readonly kind: string; readonly question: unknown }[]
}

export const ROOTS = [{ uri: 'file:///home/me/project', name: 'Project' }] as const

/** Connects and writes down what the server says and asks. */
export async function meet(
  place: Place,
  revision: Revision | undefined,
  more: ConnectOptions = {},
): Promise<Met> {
  const asked: { kind: string; question: unknown }[] = []
  const answers: Answers = {
    elicit: (question) => {
      asked.push({ kind: 'elicit', question })
      return { action: 'accept', content: { name: 'Zoe' } }
    },
    elicitUrl: (question) => {
      asked.push({ kind: 'visit', question })
      return { action: 'accept' }
    },
    sample: (question) => {
      asked.push({ kind: 'sample', question })
      return {
        role: 'assistant',
        content: { type: 'text', text: 'Knock knock' },
        model: 'm',
        stopReason: 'endTurn',
      }
    },
    roots: ROOTS,
  }
  const client = await connect(place, { answers, ...(revision === undefined ? {} : { revision }), ...more })
  const heard = new Heard()
  for (const kind of ['log', 'change', 'elicited'] as const)
    client.on(kind, (value) => heard.push({ kind, value }))
  return {
    client,
    revision: (await client.server()).revision,
    heard,
    asked,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

interface Told {
  readonly kind: 'log' | 'change' | 'elicited'
  readonly value: unknown
}

/** What a client was told, to be waited for. */
export class Heard {
  readonly all: Told[] = []
  #arrived: () => void = () => undefined

  push(told: Told): void {
    this.all.push(told)
    this.#arrived()
  }

  /** Takes the first of a kind that fits, waiting for it if need be. */
  async next(kind: Told['kind'], fits: (value: unknown) => boolean = () => true): Promise<unknown> {
    for (;;) {
      const index = this.all.findIndex((one) => one.kind === kind && fits(one.value))
      if (index >= 0) return this.all.splice(index, 1)[0]?.value
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
  }
}
