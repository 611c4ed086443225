import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, onTestFinished } from 'vitest'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { message } from '../http/messages.ts'
import { bundle } from '../harness/bundle.ts'
import type { ServerPlan } from './keys-server.ts'

/** A folder for keys, until the tests of a file are over. */
export const folder: string = mkdtempSync(join(tmpdir(), 'pierhead-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SERVER = bundle(new URL('keys-server.ts', import.meta.url), join(folder, 'server.mjs'))

/** The command that starts a server. */
export function command(plan: ServerPlan): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [SERVER, JSON.stringify(plan)] }
}

/** Connects to a server of its own until the test is over. */
export async function connected(plan: ServerPlan, options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(command(plan), options)
  onTestFinished(() => client.close())
  return client
}

/** What the handlers of a server see of the caller. */
export async function who(client: Client): Promise<unknown> {
  return JSON.parse((await client.call('who')) as string)
}

/** A server whose lines the test writes and reads itself. */
export class RawServer {
  readonly process: ChildProcessWithoutNullStreams
  readonly lines: JsonObject[] = []
  stderr = ''
  readonly exited: Promise<number | null>
  readonly #answers = new Map<number, (reply: JsonObject) => void>()
  #id = 0

  constructor(plan: ServerPlan) {
    const { command: file, args } = command(plan)
    this.process = spawn(file, args)
    this.process.stdin.on('error', () => undefined)
    this.process.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()))
    createInterface({ input: this.process.stdout }).on('line', (line) => {
      const reply = JSON.parse(line) as JsonObject
      this.lines.push(reply)
      this.#answers.get(reply['id'] as number)?.(reply)
    })
    this.exited = new Promise((resolve) => this.process.once('close', resolve))
    onTestFinished(() => void this.process.kill('SIGKILL'))
  }

  write(line: string): void {
    this.process.stdin.write(`${line}\n`)
  }

  /** Sends a request and resolves with the whole reply. */
  ask(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const id = ++this.#id
    return new Promise((resolve) => {
      this.#answers.set(id, resolve)
      this.write(message(method, params, id))
    })
  }

  /** Sends a request that must succeed. */
  async result(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const reply = await this.ask(method, params)
    if (reply['result'] === undefined) throw new Error(JSON.stringify(reply))
    return reply['result'] as JsonObject
  }
}
