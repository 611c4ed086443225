import { fileURLToPath } from 'node:url'
import { buildSync, type BuildOptions } from 'esbuild'

/** Makes a program, given by its URL, one file, which starts in a fraction of the time. Returns the file. */
export function bundle(entry: URL, outfile: string, more: BuildOptions = {}): string {
  buildSync({
    entryPoints: [fileURLToPath(entry)],
    outfile,
    bundle: true,
    platform: 'node',
    conditions: ['pierhead-source'],
    format: 'esm',
    logLevel: 'error',
    ...more,
  })
  return outfile
}
