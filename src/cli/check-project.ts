import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { failureOf } from './failure.ts'
import type { Findings } from './finding.ts'
import { JsoncError, parseJsonc } from './jsonc.ts'
import { nearestFile, type Surroundings } from './project-files.ts'
import { readText } from './read-text.ts'
import { isTypeScript } from './source-file.ts'
import { esbuildOf } from './typescript.ts'

/** The oldest Node that works: its major and minor version. */
const OLDEST = [20, 19] as const
/** The oldest Node that gets security fixes. */
const OLDEST_FIXED = 22

export function checkNode(findings: Findings, version: string = process.version): void {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
  if (major >= OLDEST_FIXED) findings.ok(`Node ${version}`)
  else if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))
    findings.advise(
      `Node ${version} works, and no longer gets security fixes`,
      'Use Node 24 in production, or at least 22.',
    )
  else
    findings.problem(
      `Node ${version} is too old`,
      `Install Node ${OLDEST.join('.')} or later, better the newest one with long-term support.`,
    )
}

/** Checks the project of a source file: what it needs to be run. Returns whether it can be. */
export function checkProject(file: string, env: Surroundings['env'], findings: Findings): boolean {
  const before = findings.list.length
  const manifest = nearestFile('package.json', { cwd: dirname(file), env })
  if (manifest === undefined)
    findings.advise(
      `there is no package.json for ${file}`,
      'Create one: npm init -y && npm pkg set type=module',
    )
  else checkManifest(manifest, file, findings)
  if (isTypeScript(file)) checkTypeScript(file, findings)
  if (!isInstalled('pierhead/package.json', file))
    findings.advise(
      'the project does not have the package pierhead, so this copy is used',
      'npm install pierhead, so that everyone uses the same version.',
    )
  return findings.list.slice(before).every(({ level }) => level !== 'problem')
}

function checkManifest(manifest: string, file: string, findings: Findings): void {
  let type: unknown
  try {
    const text = readText(manifest) ?? ''
    ;({ type } = parseJsonc(text).value as { readonly type?: unknown })
    JSON.parse(text)
  } catch (error) {
    // The message of JSON.parse would show a part of the file.
    const where = error instanceof JsoncError ? error.message : 'it has comments or trailing commas'
    findings.problem(`${manifest} is not valid JSON: ${where}`, 'Correct the file.')
    return
  }
  const isModule = /^\s*(?:import\s|export\s)/m.test(readText(file) ?? '')
  if (isModule && type !== 'module' && !/\.m[jt]s$/.test(file))
    findings.advise(
      `${file} is a module, but ${manifest} does not say "type": "module", so Node has to guess`,
      'npm pkg set type=module',
    )
  else findings.ok(`${manifest} fits the file`)
}

function checkTypeScript(file: string, findings: Findings): void {
  if ((process.features as { readonly typescript?: unknown }).typescript) {
    findings.ok('this Node runs TypeScript itself')
  } else {
    try {
      esbuildOf(file, 'Node')
      findings.ok('the project has esbuild, which this Node needs for TypeScript')
    } catch (error) {
      const { message, hint = '' } = failureOf(error)
      findings.problem(message, hint)
    }
  }
  if (!isInstalled('typescript', file))
    findings.advise(
      'the project does not have typescript, so nothing checks its types',
      'npm install --save-dev typescript',
    )
}

function isInstalled(name: string, file: string): boolean {
  try {
    createRequire(file).resolve(name)
    return true
  } catch {
    return false
  }
}
