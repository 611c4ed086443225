import { announce } from './listening.mjs'
import { options } from './options.mjs'
import { createApp } from './pierhead-server.mjs'

const { addresses } = await createApp(options.wide).listen({ tcp: { port: 0 } })
announce(Number(new URL(addresses.tcp).port))
