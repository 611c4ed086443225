// What every server here offers, as far as its library can.
import { z } from 'zod'

export const ABOUT = { name: 'peer', version: '3.2.1' }
export const INSTRUCTIONS = 'Call echo first.'
export const PNG = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]).toString('base64')
export const TEXT = z.object({ text: z.string() })
export const NAME = z.object({ name: z.string() })
export const SUMMANDS = z.object({ a: z.number(), b: z.number() })
export const SUM = z.object({ sum: z.number() })
export const STEPS = z.object({ to: z.number() })
export const FORM = {
  type: 'object',
  properties: { name: { type: 'string' }, size: { type: 'string', enum: ['s', 'l'], default: 'l' } },
  required: ['name'],
}
export const FORM_SCHEMA = z.object({ name: z.string(), size: z.enum(['s', 'l']).default('l') })
export const QUESTION = {
  messages: [{ role: 'user', content: { type: 'text', text: 'A joke?' } }],
  maxTokens: 50,
}
export const CITIES = ['Paris', 'Parma', 'Rome']

export const said = (text) => ({ content: [{ type: 'text', text }] })
export const failed = () => ({ ...said('The disk is full'), isError: true })
export const summed = ({ a, b }) => ({
  ...said(JSON.stringify({ sum: a + b })),
  structuredContent: { sum: a + b },
})
export const gallery = () => ({
  content: [
    { type: 'text', text: 'All kinds' },
    { type: 'image', data: PNG, mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'note://hello', text: 'Hello', mimeType: 'text/plain' } },
  ],
})
export const starting = (value) => CITIES.filter((city) => city.startsWith(value))

const ended = new Map()

/** Waits to be cancelled, and remembers that it was. */
export async function waitForEnd(name, signal) {
  await new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', resolve)))
  ended.get(name)?.()
  ended.set(name, true)
}

/** Answers once a call that waited was cancelled. */
export async function whenEnded(name) {
  if (ended.get(name) !== true) await new Promise((resolve) => ended.set(name, resolve))
  return 'it was cancelled'
}

/** Tells the test where the server listens. */
export const announce = (port) => process.stderr.write(`listening on http://127.0.0.1:${port}/mcp\n`)
