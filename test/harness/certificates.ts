import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A key and its certificate in PEM form. */
export interface Identity {
  readonly key: string
  readonly cert: string
  /** The SHA-256 fingerprint of the certificate. */
  readonly fingerprint: string
}

/** A certificate authority. */
export interface Authority extends Identity {
  /** Issues a certificate; names are DNS names or IP addresses. */
  issue(commonName: string, names?: readonly string[], days?: number): Identity
}

/** Creates a new certificate authority. */
export function createAuthority(commonName: string): Authority {
  const own = selfSigned(commonName, [], 'CA:TRUE')
  return {
    ...own,
    issue: (name, names = [], days = 2) =>
      inFolder((folder) => {
        writeFileSync(join(folder, 'ca.key'), own.key)
        writeFileSync(join(folder, 'ca.crt'), own.cert)
        writeFileSync(join(folder, 'extensions'), `basicConstraints=CA:FALSE${subjectAltName(names)}\n`)
        openssl(folder, 'req -new -out request', ...KEY, '-subj', `/O=Harbour/CN=${name}`)
        const serialNumber = `${Date.now()}${serial++}`
        openssl(
          folder,
          'x509 -req -in request -out crt -CA ca.crt -CAkey ca.key -extfile extensions',
          '-days',
          String(days),
          '-set_serial',
          serialNumber,
        )
        return identityIn(folder)
      }),
  }
}

/** Creates a self-signed certificate. */
export function selfSigned(
  commonName: string,
  names: readonly string[] = [],
  constraints = 'CA:FALSE',
): Identity {
  return inFolder((folder) => {
    const extensions = [`basicConstraints=critical,${constraints}`, subjectAltName(names).trim()]
    const added = extensions.filter((one) => one !== '').flatMap((one) => ['-addext', one])
    openssl(folder, 'req -x509 -days 2 -out crt', ...KEY, '-subj', `/CN=${commonName}`, ...added)
    return identityIn(folder)
  })
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key']
let serial = 1

function inFolder<Value>(make: (folder: string) => Value): Value {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-certificate-'))
  try {
    return make(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function openssl(folder: string, command: string, ...more: readonly string[]): void {
  execFileSync('openssl', [...command.split(' '), ...more], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

function subjectAltName(names: readonly string[]): string {
  if (names.length === 0) return ''
  return `\nsubjectAltName=${names.map((name) => (/^[\d.:]+$/.test(name) ? `IP:${name}` : `DNS:${name}`)).join(',')}`
}

function identityIn(folder: string): Identity {
  const cert = readFileSync(join(folder, 'crt'), 'utf8')
  const { fingerprint256 } = new X509Certificate(cert)
  return { key: readFileSync(join(folder, 'key'), 'utf8'), cert, fingerprint: fingerprint256 }
}
