import { options } from './options.mjs'
import { createApp } from './pierhead-server.mjs'

await createApp(options.wide).listen()
