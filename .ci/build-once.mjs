// Builds what `wrangler` deploys or serves, unless who started it did that already.
import { execSync } from 'node:child_process'

if (process.env.EDGEWISE_BUILT !== 'true') execSync('npm run build', { stdio: 'inherit' })
