import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Writes a page that leads to a link, and that only this user can read, for systems on which others can read the arguments of programs. It
 * is removed when the signal aborts. The link must not contain characters that mean something in HTML.
 */
export async function pageFile(link: URL, over: AbortSignal): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'pierhead-login-'))
  const remove = (): void => void rm(folder, { recursive: true, force: true }).catch(() => undefined)
  over.addEventListener('abort', remove, { once: true })
  try {
    const file = join(folder, 'login.html')
    const { href } = link
    const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${href}"><title>Log in</title></head>
<body><p><a href="${href}">Continue to the login page</a></p></body>
</html>
`
    await writeFile(file, page, { mode: 0o600, flag: 'wx' })
    return pathToFileURL(file)
  } catch (error) {
    remove()
    throw error
  } finally {
    if (over.aborted) remove()
  }
}
