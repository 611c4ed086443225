import { createServer, type App } from 'pierhead'
import { apps, health, subscriptions, toolCompletion, toolStream } from 'pierhead/extensions'
import { z } from 'zod'
import { withTides } from './tides.ts'

/** A server with every extension in the package, and a custom one. */
export function createStation(): App {
  const app = createServer({ name: 'station', version: '1.0.0' })
  app.tool('measure', { input: z.object({ place: z.string() }) }, async function* ({ place }) {
    yield `measuring at ${place}`
    yield 'wind 4'
    yield 'waves 1.5'
  })
  app.resource('station://log', {}, () => 'all quiet')

  app.extend(health({ checks: { sensors: () => sensorsRespond() }, timeout: '1s' }))
  app.extend(apps([{ name: 'measuring', tools: ['measure'], start: () => warmUp() }]))
  app.extend(subscriptions)
  app.extend(toolStream)
  app.extend(toolCompletion({ measure: { place: (prefix) => placesStartingWith(prefix) } }))
  return withTides(app)
}

async function sensorsRespond(): Promise<boolean> {
  return true
}

async function warmUp(): Promise<void> {
  await Promise.resolve()
}

function placesStartingWith(
  prefix: string,
): readonly { readonly value: string; readonly description: string }[] {
  return [
    { value: 'north mole', description: 'exposed' },
    { value: 'north quay', description: 'sheltered' },
  ].filter(({ value }) => value.startsWith(prefix))
}
