import type { Change, Client, ClientEvents } from '../../src/client.ts'
import type { Watched } from '../../src/client/watched.ts'

/** Every item of an iteration. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

/** What a promise is rejected with; fails when it is not. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )
}

/** The next event of a kind. */
export function next<Name extends keyof ClientEvents>(
  client: Client,
  name: Name,
): Promise<ClientEvents[Name]> {
  return new Promise((resolve) => {
    const off = client.on(name, (event) => {
      off()
      resolve(event)
    })
  })
}

/** The first change of what is watched, while something keeps on changing it: when watching begins is not visible. */
export async function firstChange(
  client: Client,
  watched: Watched,
  change: () => Promise<unknown>,
): Promise<Change | undefined> {
  let over = false
  const changing = (async () => {
    while (!over) {
      await change()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  try {
    for await (const first of client.watch(watched)) return first
    return undefined
  } finally {
    over = true
    await changing
  }
}
