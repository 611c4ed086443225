import { createHash } from 'node:crypto'
import type { Client } from 'pierhead/client'
import type { LaunchedServer } from '../launch.ts'
import { LISTS, type Digests } from './messages.ts'

/** The name of the client that reads the lists. Its requests are not shown. */
export const READER = 'pierhead-dev'

/** Reads the lists of a server in this process, as a caller without a login sees them. */
export async function digestsOf(server: LaunchedServer): Promise<Digests> {
  const { connect } = await import('pierhead/client')
  const client = await connect(server as never, { client: { name: READER, version: '1.0.0' } })
  try {
    const all = await Promise.all(LISTS.map(async (list) => [list, await digest(client, list)] as const))
    return Object.fromEntries(all) as unknown as Digests
  } finally {
    await client.close()
  }
}

async function digest(client: Client, list: (typeof LISTS)[number]): Promise<string> {
  try {
    const items = [
      await client[list]().toArray(),
      list === 'resources' ? await client.templates().toArray() : [],
    ]
    return digestText(JSON.stringify(items))
  } catch (error) {
    // A server without such a list, or one whose function fails.
    return `failed: ${(error as Error).message}`
  }
}

function digestText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
