import { onTestFinished } from 'vitest'
import type { App, Running } from '../../src/index.ts'
import type { ListenOptions } from '../../src/app/options.ts'
import { handshake, Raw } from './raw.ts'

export interface Started {
  readonly running: Running
  readonly url: string
  readonly port: number
}

/** Serves an app over WebSocket until the test is over. */
export async function start(
  app: App,
  options: ListenOptions = { http: { port: 0 }, ws: true },
): Promise<Started> {
  const running = await app.listen({ onUncaught: 'exit', ...options })
  onTestFinished(() => running.close())
  const url = running.addresses.ws as string
  return { running, url, port: Number(new URL(url).port) }
}

/** A raw connection that is a WebSocket already. */
export async function open(port: number, headers: Readonly<Record<string, string>> = {}): Promise<Raw> {
  const raw = new Raw(port)
  const status = await raw.ask(handshake(port, headers))
  if (status !== 101) throw new Error(`the upgrade was answered with ${status}: ${raw.body}`)
  return raw
}
