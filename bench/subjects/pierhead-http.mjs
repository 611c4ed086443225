import { announce } from './listening.mjs'
import { app } from './pierhead-server.mjs'

const running = await app.listen({ http: { port: 0 } })
announce(Number(new URL(running.url).port))
