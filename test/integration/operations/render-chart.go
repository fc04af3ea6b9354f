// Renders the templates of a chart as Helm does, where there is no Helm: its language is Go's own text/template with a table of functions.
// Those that our chart uses are here, and a template that uses another one is an error. What Helm knows besides is not checked by it.
// Arguments are the files of templates, standard input has what they read ({"Values": .., "Release": .., "Chart": ..}).
package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"text/template"
)

func main() {
	if err := render(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(files []string) error {
	var read map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&read); err != nil {
		return err
	}
	// A value that is not there is a mistake of the template: Helm would print nothing and say nothing.
	all := template.New("chart").Option("missingkey=error")
	if _, err := all.Funcs(functions(all)).ParseFiles(files...); err != nil {
		return err
	}
	for _, file := range files {
		fmt.Printf("---\n# Source: %s\n", filepath.Base(file))
		if err := all.ExecuteTemplate(os.Stdout, filepath.Base(file), read); err != nil {
			return err
		}
		fmt.Println()
	}
	return nil
}

func functions(all *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text strings.Builder
			err := all.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"fail":       func(message string) (string, error) { return "", errors.New(message) },
		"quote":      func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"toYaml":     toYaml,
		"toJson":     toYaml,
		"kindIs":     func(kind string, value any) bool { return reflect.ValueOf(value).Kind().String() == kind },
		"nindent":    func(spaces int, text string) string { return "\n" + indented(spaces, text) },
		"b64enc":     func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
		"trunc":      func(length int, text string) string { return text[:min(length, len(text))] },
		"trimSuffix": func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
		"default":    orDefault,
		"int":        toInt,
		"mod":        func(a, b int) int { return a % b },
		"div":        func(a, b int) int { return a / b },
		"sub":        func(a, b int) int { return a - b },
		"until":      until,
		"list":       func(values ...any) []any { return values },
		"append":     func(values []any, value any) []any { return append(values[:len(values):len(values)], value) },
		"join":       join,
	}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// JSON is YAML.
func toYaml(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

func indented(spaces int, text string) string {
	space := strings.Repeat(" ", spaces)
	return space + strings.ReplaceAll(text, "\n", "\n"+space)
}

func orDefault(fallback, value any) any {
	if truth, ok := template.IsTrue(value); ok && truth {
		return value
	}
	return fallback
}

func toInt(value any) (int, error) {
	number, ok := value.(float64)
	if !ok {
		return 0, fmt.Errorf("int of %v, which is no number", value)
	}
	return int(number), nil
}

func until(count int) []int {
	numbers := make([]int, count)
	for at := range numbers {
		numbers[at] = at
	}
	return numbers
}

func join(separator string, values []any) string {
	texts := make([]string, len(values))
	for at, value := range values {
		texts[at] = fmt.Sprint(value)
	}
	return strings.Join(texts, separator)
}
