// Planform makes a Plane workspace match YAML manifests.
package main

import (
	"os"

	"github.com/planform/planform/internal/cli"
)

func main() { os.Exit(cli.Main(cli.System())) }
