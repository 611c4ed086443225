import { app } from './pierhead-server.mjs'

await app.listen()
