import type { App } from 'pierhead'
import { connect, type Target } from 'pierhead/client'
import { defineExtension } from 'pierhead/extensions'
import { z } from 'zod'

/** An extension of our own, for both sides: what it is called, what it takes, and what answers it. */
const tides = defineExtension({
  id: 'com.example/tides',
  methods: {
    next: {
      params: z.object({ harbour: z.string() }),
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
