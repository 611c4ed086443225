import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What names a file in a declaration: `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`. */
const NAMED = /((?:from|import) |import\()(['"])(\.[^'"\n]*)\.[jt]s\2/g

/** Makes declarations name the files that exist: the compiler leaves `.ts` in them. Then deletes those that no public one needs. */
export function keepPublicDeclarations(folder: string, entries: readonly string[]): void {
  const needed = new Set<string>()
  const waiting = entries.map((entry) => join(folder, entry))
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (needed.has(path) || !existsSync(path)) continue
    needed.add(path)
    const text = readFileSync(path, 'utf8')
    for (const [, , , name] of text.matchAll(NAMED)) waiting.push(join(dirname(path), `${name}.d.ts`))
    writeFileSync(path, text.replaceAll(NAMED, '$1$2$3.js$2'))
  }
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, file)
    if (path.endsWith('.d.ts') && !needed.has(path)) rmSync(path)
  }
}

/** The declarations that a package's `exports` name, within its folder `dist`. */
export function publicDeclarations(exports: object): readonly string[] {
  return Object.values(exports).flatMap((value) => {
    if (typeof value === 'object' && value !== null) return publicDeclarations(value)
    return typeof value === 'string' && value.endsWith('.d.ts') ? [value.slice('./dist/'.length)] : []
  })
}
