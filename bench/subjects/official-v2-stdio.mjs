import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createOfficialV2 } from './official-v2-server.mjs'

serveStdio(createOfficialV2)
