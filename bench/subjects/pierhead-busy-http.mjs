import { pbkdf2Sync } from 'node:crypto'
import { createServer } from 'pierhead'
import { announce } from './listening.mjs'
import { about } from './options.mjs'

/** A server whose only tool keeps the CPU busy for some milliseconds. */
const app = createServer(about).tool('work', {}, () =>
  pbkdf2Sync('x', 'y', 32_000, 32, 'sha256').toString('hex'),
)
const { url } = await app.listen({ http: { port: 0 } })
announce(Number(new URL(url).port))
