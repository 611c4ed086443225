import { announce } from './listening.mjs'
import { options } from './options.mjs'
import { createApp } from './pierhead-server.mjs'

const { url, worker } = await createApp(0).listen({ http: { port: 0 }, workers: options.workers })
if (worker === undefined) announce(Number(new URL(url).port))
