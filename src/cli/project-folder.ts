import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The file with a name in a folder, or in the nearest of those that contain it; undefined if there is none. */
export function nearestFile(folder: string, name: string): string | undefined {
  const file = join(folder, name)
  if (existsSync(file)) return file
  return dirname(folder) === folder ? undefined : nearestFile(dirname(folder), name)
}

/** The folder of the project that a file belongs to: that of the nearest package.json, or its own. */
export function projectFolder(file: string): string {
  const manifest = nearestFile(dirname(file), 'package.json')
  return dirname(manifest ?? file)
}
