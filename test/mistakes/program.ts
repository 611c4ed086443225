import { createServer } from '../../src/index.ts'

/** A server on stdio without options for its log, as a newcomer starts it. */
const app = createServer({ name: 'program', version: '1' }).tool('a', {}, () => {
  throw new Error('no such order')
})
await app.listen()
