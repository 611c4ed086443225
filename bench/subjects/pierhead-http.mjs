import { announce } from './listening.mjs'
import { options } from './options.mjs'
import { createApp } from './pierhead-server.mjs'

const ports = []
for (let count = 0; count < options.listeners; count++) {
  const { url } = await createApp(options.wide).listen({ http: { port: 0 } })
  ports.push(Number(new URL(url).port))
}
announce(...ports)
