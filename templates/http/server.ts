import { oauth } from 'pierhead/auth'
import { devAuth } from 'pierhead/auth/dev'
import app from './app.ts'

const { ISSUER, RESOURCE = 'http://127.0.0.1:3000/mcp', PORT = '3000', HOST, HOSTS } = process.env
const scopes = ['notes:read']

// Your provider issues the tokens. Without one, people log in on a page of this program, for development only: anyone can be anyone.
const auth = ISSUER ? oauth({ issuer: ISSUER, resource: RESOURCE, scopes }) : await devAuth({ scopes })

const http = {
  port: Number(PORT),
  auth,
  ...(HOST && { host: HOST }),
  ...(HOSTS && { hosts: HOSTS.split(',') }),
}
const { url } = await app.listen({ http })
console.error(`listening at ${url}`)
