import { onTestFinished } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import type { App } from '../../src/index.ts'

export const TRANSPORTS_OF_TEST = ['memory', 'http', 'tcp', 'ws'] as const

/** A client of 2025-11-25 over one of several transports. */
export async function open(app: App, transport: (typeof TRANSPORTS_OF_TEST)[number]): Promise<Client> {
  const options = { revision: '2025-11-25', client: { name: 'watcher', version: '1' } } as const
  const client = await connect(transport === 'memory' ? app : await addressOf(app, transport), options)
  onTestFinished(() => client.close())
  return client
}

async function addressOf(app: App, transport: 'http' | 'tcp' | 'ws'): Promise<string> {
  const running = await app.listen({ [transport]: { port: 0 } })
  onTestFinished(() => running.close())
  return running.addresses[transport] as string
}

export async function namesOf(items: AsyncIterable<{ readonly name: string }>): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of items) names.push(name)
  return names
}
