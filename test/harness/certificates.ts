import { execFileSync } from 'node:child_process'
import { randomBytes, X509Certificate } from 'node:crypto'
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
  /** Issues a certificate, for two days unless `until` says otherwise; names are DNS names or IP addresses. */
  issue(commonName: string, names?: readonly string[], until?: Date): Identity
  /** Issues a certificate with an empty subject; names have their kinds, such as `URI:spiffe://harbour/anna`. */
  issueNameless(names: readonly string[]): Identity
}

/** Creates a new certificate authority. */
export function createAuthority(commonName: string): Authority {
  const own = selfSigned(commonName, [], 'CA:TRUE')
  return {
    ...own,
    issueNameless: (names) =>
      inFolder((folder) => {
        writeFileSync(join(folder, 'ca.key'), own.key)
        writeFileSync(join(folder, 'ca.crt'), own.cert)
        const alternatives = names.length === 0 ? '' : `subjectAltName=critical,${names.join(',')}\n`
        writeFileSync(join(folder, 'extensions'), `basicConstraints=CA:FALSE\n${alternatives}`)
        openssl(folder, 'req -new -out request', ...KEY, '-subj', '/')
        openssl(
          folder,
          'x509 -req -in request -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out crt -extfile extensions',
        )
        return identityIn(folder)
      }),
    issue: (name, names = [], until = new Date(Date.now() + TWO_DAYS)) =>
      inFolder((folder) => {
        writeFileSync(join(folder, 'ca.key'), own.key)
        writeFileSync(join(folder, 'ca.crt'), own.cert)
        writeFileSync(join(folder, 'extensions'), `basicConstraints=CA:FALSE${subjectAltName(names)}\n`)
        writeFileSync(join(folder, 'config'), CONFIG)
        writeFileSync(join(folder, 'index'), '')
        writeFileSync(join(folder, 'serial'), randomBytes(8).toString('hex'))
        openssl(folder, 'req -new -out request', ...KEY, '-subj', `/O=Harbour/CN=${name}`)
        openssl(
          folder,
          'ca -batch -config config -in request -out crt -notext -extfile extensions',
          '-enddate',
          `${until.toISOString().replace(/[^\d]/g, '').slice(0, 14)}Z`,
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

const TWO_DAYS = 172_800_000
/** Only `openssl ca` issues certificates for less than a day. */
const CONFIG = `[ca]
default_ca = own
[own]
certificate = ca.crt
private_key = ca.key
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
[any]
organizationName = supplied
commonName = supplied
`
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key']

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
