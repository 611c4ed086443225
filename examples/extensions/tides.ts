import type { App } from 'pierhead'
import { connect, type Target } from 'pierhead/client'
import { defineExtension } from 'pierhead/extensions'
import { z } from 'zod'

/** A custom extension for both sides: its id, its methods and their handlers. */
const tides = defineExtension({
  id: 'com.example/tides',
  methods: {
    next: {
      params: z.object({ harbour: z.string().max(100) }),
      result: z.object({ at: z.string(), metres: z.number() }),
    },
  },
  notices: ['turned'],
  serve: (_options: undefined, host) => ({
    next: ({ harbour }) => {
      host.notify('turned', { harbour })
      return { at: '04:12', metres: harbour === 'Bergen' ? 1.4 : 3 }
    },
  }),
})

/** Adds the tides to a server. */
export function withTides(app: App): App {
  return app.extend(tides)
}

/** Asks a server for its next high water. */
export async function nextTide(target: Target, harbour: string): Promise<string> {
  await using client = await connect(target, { extensions: [tides] })
  const { at, metres } = await tides.of(client).next({ harbour })
  return `high water at ${at}, ${metres} m`
}
