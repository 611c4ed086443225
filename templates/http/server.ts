import { createServer } from 'pierhead'
import { oauth } from 'pierhead/auth'
import { devAuth } from 'pierhead/auth/dev'
import tools from './tools/index.ts'

const { ISSUER, PORT = '3000', RESOURCE = `http://127.0.0.1:${PORT}/mcp` } = process.env
const scopes = ['notes:read']

// Your provider issues the tokens. Without one, people log in on a page of this program, for development only: anyone can be anyone.
const auth = ISSUER ? oauth({ issuer: ISSUER, resource: RESOURCE, scopes }) : await devAuth({ scopes })

const app = createServer({ name: '{{name}}', version: '1.0.0', tools, auth })

export default app
