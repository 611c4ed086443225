import { order } from './client.ts'

console.log(await order(process.argv[2] ?? 'http://127.0.0.1:3000/mcp'))
