import { build } from 'esbuild'

const BUNDLE = '.cache/conformance-client.mjs'

/** Bundles the client under test, which is started once per scenario; returns the command that runs it. */
export async function bundleClient(): Promise<string> {
  await build({
    entryPoints: ['examples/conformance/client.ts'],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    conditions: ['pierhead-source'],
    logLevel: 'error',
  })
  return `"${process.execPath}" ${BUNDLE}`
}
