import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, type App } from 'pierhead'
import { postgres, redis, type DriverOf } from 'pierhead/stores'
import * as z from 'zod'

/** A harbour that any number of nodes serve: nothing that clients share is in the memory of one of them. */
export function createHarbour(node: string, env: Readonly<Record<string, string | undefined>>): App {
  const { REDIS_URL, DATABASE_URL } = env
  if (!REDIS_URL) throw new Error('set REDIS_URL to the Redis of all nodes, such as redis://127.0.0.1:6379')
  const shared = redis(REDIS_URL)
  const store = DATABASE_URL ? { ...shared, tasks: postgres(DATABASE_URL).tasks } : shared
  const app = createServer({ name: 'harbour', version: '1.0.0', store })

  app.tool('where', { description: 'Says which node answers.' }, () => node)

  app.tool('count', { description: 'Counts the calls of a session.' }, async (_, { session }) => {
    const count = ((await session?.get<number>('count')) ?? 0) + 1
    await session?.set('count', count)
    return `${count} at ${node}`
  })

  app.tool(
    'book',
    { description: 'Books a berth.', input: z.object({ berth: z.string() }) },
    async ({ berth }, { elicit, once }) => {
      const answer = await elicit('Which ship?', z.object({ ship: z.string() }))
      if (answer.action !== 'accept') return 'Nothing was booked.'
      await once('booking', () => book(shared, berth, answer.content.ship))
      app.updated(`berth://${berth}`)
      return `${berth} is booked for ${answer.content.ship} by ${node}.`
    },
  )

  app.resource('berth://{berth}', {}, async ({ berth }) => (await shared.cache.get(berth)) ?? 'free')

  if (DATABASE_URL)
    app.tool(
      'unload',
      { input: z.object({ crates: z.number().int().min(1).max(100) }), task: { onRestart: 'retry' } },
      async ({ crates }, { progress }) => {
        for (let crate = 1; crate <= crates; crate++) {
          await sleep(50)
          progress(crate, crates)
        }
        return `${crates} crates are on the quay.`
      },
    )
  return app
}

/** A real harbour has a database; the texts that nodes share for a day will do here. */
async function book(store: DriverOf<'cache'>, berth: string, ship: string): Promise<string> {
  await store.cache.set(berth, ship, 24 * 60 * 60 * 1000)
  return ship
}
