package simulation

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/planform/planform/internal/sandbox"
)

// Folder is the environment variable that names the folder of the cases.
const Folder = "PLANFORM_ORACLE_CASES"

// Contents and StateFile are the names of the files of a case that are no manifests: what the service has, and the state.
const (
	Contents  = "sandbox.db"
	StateFile = "state.json"

	caseFile   = "case.json"
	packedFile = Contents + ".gz" // it is large, and most of it is empty
)

// Case says how a plan is made from the files of its folder.
type Case struct {
	Edition sandbox.Edition
	Answers sandbox.Answers
	Args    []string // of planform plan, without the state and the output
}

// NewArgs returns the arguments of planform plan that make the plan of an apply with other arguments, without the user's folder.
func NewArgs(args []string, folder string) (list []string) {
	alone := map[string]bool{"--yes": true, "--detailed-exitcode": true}
	withValue := map[string]bool{"--state": true, "--max-deletes": true, "--lock-timeout": true, "--out": true}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case alone[arg]:
		case withValue[arg]:
			i++
		default:
			list = append(list, strings.TrimPrefix(arg, folder))
		}
	}
	return list
}

// Write writes a case with its files, by name. It writes no case whose state has open intents: the wait for them is no plan.
func (c Case) Write(folder, name string, files map[string][]byte) error {
	if strings.Contains(string(files[StateFile]), `"open":{`) {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(files[Contents])
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	delete(files, Contents)
	files[caseFile], files[packedFile] = text, packed.Bytes()
	for file, text := range files {
		path := filepath.Join(folder, name, file)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600))
	}
	return err
}

// Read reads the case of a folder, and unpacks the contents of the service.
func Read(folder string) (c Case, err error) {
	text, err := os.ReadFile(filepath.Join(folder, caseFile))
	packed, packedErr := os.Open(filepath.Join(folder, packedFile))
	if err = errors.Join(err, packedErr); err != nil {
		return c, err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return c, err
	}
	contents, err := io.ReadAll(z)
	return c, errors.Join(err, json.Unmarshal(text, &c), os.WriteFile(filepath.Join(folder, Contents), contents, 0o600))
}
