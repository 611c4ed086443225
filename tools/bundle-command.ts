import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** The programs of the command, and the hooks that load sources. */
const PROGRAMS = ['main.js', 'create.js', 'register.js', 'source-hooks.js'] as const

/** What `pierhead build` puts into every file. */
const BUILT_IN = 'start-built.js'

/**
 * Bundles the compiled command, with the libraries that only it uses, into a few files: each command is loaded when it runs. It
 * uses the rest of the package under its public names and those in `imports`, so these stay imports.
 */
export async function bundleCommand(folder: string): Promise<void> {
  const bundled = `${folder}-bundled`
  const { metafile } = await build({
    entryPoints: PROGRAMS.map((name) => join(folder, name)),
    outdir: bundled,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['pierhead', 'pierhead/*', '#*', 'esbuild', 'typescript', 'fsevents', 'ws'],
    // Libraries in the older module format load modules of Node with require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    chunkNames: 'parts/[name]-[hash]',
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
  })
  await build({
    entryPoints: [join(folder, BUILT_IN)],
    outdir: bundled,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  })
  rmSync(folder, { recursive: true })
  renameSync(bundled, folder)
  writeFileSync(join(folder, 'register.d.ts'), 'export {}\n')
  writeFileSync(join(folder, 'LICENSES.txt'), licencesOf(Object.keys(metafile.inputs)))
}

/** The licences of the packages whose files are in the bundle. */
function licencesOf(inputs: readonly string[]): string {
  const names = new Set(
    inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  )
  return [...names]
    .toSorted()
    .map((name) => {
      const home = join('node_modules', name)
      const file = readdirSync(home).find((one) => /^licen[cs]e/i.test(one))
      const { version, license } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
      const text = file === undefined ? `Licence: ${String(license)}` : readFileSync(join(home, file), 'utf8')
      return `${name} ${String(version)}\n\n${text.trim()}\n`
    })
    .join(`\n${'-'.repeat(72)}\n\n`)
}
