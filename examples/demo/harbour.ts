import { createServer, ToolError, type App } from 'pierhead'
import type { AuthMethod } from 'pierhead/auth'
import { z } from 'zod'

interface Berth {
  readonly id: string
  readonly length: number
  ship: string | undefined
}

/** A small harbour: a little of everything that a server can offer. With `auth`, booking needs a scope of its own. */
export function createHarbour(auth?: AuthMethod): App {
  const berths = new Map<string, Berth>([
    ['A1', { id: 'A1', length: 12, ship: 'Petrel' }],
    ['A2', { id: 'A2', length: 18, ship: undefined }],
    ['B1', { id: 'B1', length: 30, ship: undefined }],
  ])
  const app = createServer({
    name: 'harbour',
    version: '1.0.0',
    title: 'Pierhead demo harbour',
    instructions: 'Look at the berths before you book one.',
    ...(auth !== undefined && { auth }),
  })

  app.tool(
    'tide',
    {
      description: 'The height of the tide at an hour of the day.',
      input: z.object({ hour: z.number().int().min(0).max(23) }),
      output: z.object({ metres: z.number(), rising: z.boolean() }),
      hints: { readOnly: true, idempotent: true },
    },
    ({ hour }) => {
      const phase = (hour / 12.42) * 2 * Math.PI
      return { metres: Math.round((3 + 2 * Math.sin(phase)) * 100) / 100, rising: Math.cos(phase) > 0 }
    },
  )

  app.tool(
    'radio',
    { description: 'Calls every berth in turn and streams what each answers.' },
    async function* (_input, ctx) {
      for (const { id, ship } of berths.values()) {
        await pause(200, ctx.signal)
        yield `${id}: ${ship ?? 'nobody here'}`
      }
    },
  )

  app.tool(
    'book',
    {
      description: 'Books a free berth, asking the user for the name of the ship.',
      input: z.object({ berth: z.string() }),
      ...(auth !== undefined && { scopes: ['harbour:book'] }),
    },
    async ({ berth: id }, ctx) => {
      const berth = berths.get(id)
      if (berth === undefined) throw new ToolError(`There is no berth ${id}.`, { berths: [...berths.keys()] })
      if (berth.ship !== undefined) throw new ToolError(`Berth ${id} is taken by ${berth.ship}.`)
      const answer = await ctx.elicit('What is the ship called?', z.object({ ship: z.string().min(1) }))
      if (answer.action !== 'accept') return 'Nothing was booked.'
      berth.ship = answer.content.ship
      app.updated(`harbour://berths/${id}`)
      return `Berth ${id} is booked for ${berth.ship}.`
    },
  )

  app.resource('harbour://berths', { mimeType: 'application/json', description: 'All berths.' }, () => [
    ...berths.values(),
  ])
  app.resource(
    'harbour://berths/{id}',
    { mimeType: 'application/json', description: 'One berth.' },
    ({ id }) => berths.get(id),
  )
  app.complete('harbour://berths/{id}', 'id', (start) =>
    [...berths.keys()].filter((id) => id.startsWith(start)),
  )

  app.prompt(
    'arrival',
    {
      description: 'Prepares the arrival of a ship.',
      args: z.object({ ship: z.string(), hour: z.string().optional() }),
    },
    ({ ship, hour = 'now' }) =>
      `The ${ship} arrives (${hour}). Find a free berth that is long enough and check the tide.`,
  )
  return app
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)), {
      once: true,
    })
  })
}
