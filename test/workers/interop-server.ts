/* The server that the official clients use, in two processes. Writes its URL. */
import { createInteropApp } from '../interop/app.ts'

const { url, worker } = await createInteropApp().listen({ http: { port: 0 }, workers: 2 })
if (worker === undefined) process.stdout.write(`${url}\n`)
