import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'

/** The modules of which a bundle contains something. */
async function modulesOf(contents: string): Promise<readonly string[]> {
  const { metafile } = await build({
    stdin: { contents, resolveDir: resolve('.'), sourcefile: 'main.ts', loader: 'ts' },
    bundle: true,
    write: false,
    splitting: true,
    outdir: 'out',
    metafile: true,
    platform: 'node',
    format: 'esm',
    conditions: ['pierhead-source'],
    logLevel: 'error',
  })
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? path : [])),
  )
}

test('a server without auth contains none of its code', async () => {
  const modules = await modulesOf(`
    import { createServer } from './src/index.ts'
    await createServer({ name: 'x', version: '1' }).listen({ http: {} })`)
  expect(modules.filter((path) => /src\/auth|node_modules\/jose/.test(path))).toEqual([])
})

test('a server with API keys does not contain the code for JSON web tokens', async () => {
  const modules = await modulesOf(`
    import { createServer } from './src/index.ts'
    import { apiKeys } from './src/auth.ts'
    await createServer({ name: 'x', version: '1', auth: apiKeys({ digests: {} }) }).listen({ http: {} })`)
  expect(modules).toContain('src/auth/authentication.ts')
  expect(modules.filter((path) => path.includes('node_modules/jose'))).toEqual([])
})

test('a client without auth contains none of its code, nor the packages for it', async () => {
  const modules = await modulesOf(`
    import { connect } from './src/client.ts'
    await using client = await connect('https://mcp.example/mcp')
    console.log(await client.call('who'))`)
  expect(modules).toContain('src/transport/http/client/client.ts')
  expect(modules.filter((path) => /src\/auth|node_modules\/(jose|oauth4webapi)/.test(path))).toEqual([])
  const withAuth = await modulesOf(`
    import { connect } from './src/client.ts'
    import { browser } from './src/auth-client.ts'
    await connect('https://mcp.example/mcp', { auth: browser() })`)
  expect(withAuth).toContain('src/auth/client/authorization.ts')
  expect(withAuth.some((path) => path.includes('node_modules/oauth4webapi'))).toBe(true)
})

const AUTH_CODE = /\/src\/auth|node_modules\/(jose|oauth4webapi)/

/** Runs a program, which finds `load` for modules of this repository; gives its output and the modules that it loaded. */
async function run(
  program: string,
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly modules: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-unused-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const loaded = join(folder, 'loaded')
  const hooks = join(folder, 'hooks.mjs')
  // Notes each module that is loaded.
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs'
    export async function load(url, context, next) {
      appendFileSync(${JSON.stringify(loaded)}, url + '\\n')
      return next(url, context)
    }`,
  )
  const main = join(folder, 'main.mjs')
  writeFileSync(
    main,
    `import { register } from 'node:module'
    register(${JSON.stringify(pathToFileURL(hooks).href)})
    const load = (path) => import(new URL(path, ${JSON.stringify(pathToFileURL(resolve('.')).href + '/')}).href)
    ${program}`,
  )
  const flags = ['--import', 'tsx', '--conditions', 'pierhead-source']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, main, ...args])
  return { stdout, modules: readFileSync(loaded, 'utf8').split('\n') }
}

test('a server without auth loads none of its code, also for requests with a token', async () => {
  const program = (auth: string): string => `
    const { createServer } = await load('src/index.ts')
    const app = createServer({ name: 'open', version: '1', log: () => undefined, auth: ${auth} })
    const { url } = await app.listen({ http: { port: 0 }, ws: true })
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json', accept: 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    console.log((await fetch(url, { method: 'POST', headers, body })).status)
    await app.close()`
  const open = await run(program('undefined'))
  expect(open.stdout).toBe('400\n')
  expect(open.modules.filter((url) => AUTH_CODE.test(url))).toEqual([])
  const closed = await run(program(`(await load('src/auth.ts')).bearer(() => undefined)`))
  expect(closed.stdout).toBe('401\n')
  expect(closed.modules.some((url) => AUTH_CODE.test(url))).toBe(true)
})

test('a client without auth loads none of its code, over HTTP and WebSocket', async () => {
  const app = createServer({ name: 'open', version: '1', log: () => undefined }).tool(
    'who',
    {},
    () => 'anyone',
  )
  const { addresses, close } = await app.listen({ onUncaught: 'exit', http: { port: 0 }, ws: { port: 0 } })
  onTestFinished(close)
  const program = `
    const { connect } = await load('src/client.ts')
    for (const url of process.argv.slice(2)) {
      const client = await connect(url)
      console.log(await client.call('who'))
      await client.close()
    }`
  const { stdout, modules } = await run(program, addresses.http as string, addresses.ws as string)
  expect(stdout).toBe('anyone\nanyone\n')
  expect(modules.some((url) => url.includes('/src/transport/ws/client.ts'))).toBe(true)
  expect(modules.filter((url) => AUTH_CODE.test(url))).toEqual([])
})
