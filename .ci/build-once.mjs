// Builds what `wrangler` deploys or serves, unless the caller has done that already.
import { execSync } from 'node:child_process'

if (process.env.EDGEWISE_BUILT !== 'true') execSync('npm run bundle', { stdio: 'inherit' })
