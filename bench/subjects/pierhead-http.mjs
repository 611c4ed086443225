import { announce } from './listening.mjs'
import { options } from './options.mjs'
import { createApp } from './pierhead-server.mjs'

const ports = []
for (let count = 0; count < options.listeners; count++) {
  const { url } = await createApp(options.wide, count).listen({
    http: { port: 0, ...(await authOf(options)) },
  })
  ports.push(Number(new URL(url).port))
}
announce(...ports)

/** Only a server that is protected loads the code for it. */
async function authOf({ auth }) {
  if (auth === undefined) return {}
  const { oauth } = await import('pierhead/auth')
  return { auth: oauth(auth) }
}
