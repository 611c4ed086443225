#!/usr/bin/env node
// The entry of `create-mcp-server my-server`, which is `pierhead create my-server`.
import { runProcess } from './process.ts'

await runProcess(['create', ...process.argv.slice(2)])
